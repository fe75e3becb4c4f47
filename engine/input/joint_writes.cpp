#include "engine/input/joint_writes.h"

#include <fmt/core.h>

#include <map>

#include "engine/input/composite_operators.h"
#include "engine/input/diagnostic_collector.h"
#include "engine/input/joint_arguments.h"
#include "engine/input/written_values.h"
#include "engine/ir/builder.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr int kMaxFollowedCalls = 1'000;  // views are rarely ten deep
constexpr int kMaxListDepthOfOperands = 8;

// The node that a call has as its first argument; the number of nodes where there is none.
std::size_t first_operand(const JointNodes& nodes, const JointNode& node) {
  JsonValue first;
  for (const JsonValue list : {node.args, node.kwargs})
    if (!first.present() && list.present())
      for (const JsonMember item : list.items())
        if (!first.present()) first = item.value;
  const auto found = nodes.by_name.find(referenced_name(first));
  return found == nodes.by_name.end() ? nodes.nodes.size() : found->second;
}

class Writes {
 public:
  explicit Writes(const JointNodes& nodes) : nodes_(nodes) {}

  void add(const JointNode& node) {
    if (node.op != "call_function") return;
    const CompositeOperator* composite = find_composite(node.target);
    if (composite != nullptr && !is_off(*composite, node))
      for (const std::string_view parameter : composite->written)
        follow(referenced_name(argument_of(composite->row, node, parameter)));
    if (runs_a_writing_region(node))
      for (const JsonValue list : {node.args, node.kwargs}) follow_all(list, 0);
    const bool known = composite != nullptr || find_operator_in_file(node.target) != nullptr;
    if (!known && functional_target(node.target)) follow(first_operand(nodes_, node));
  }

  const std::set<std::size_t>& found() const { return found_; }

 private:
  static bool is_off(const CompositeOperator& composite, const JointNode& node) {
    const JsonValue option = argument_of(composite.row, node, composite.written_if);
    return option.is(JsonKind::boolean) && !option.boolean();
  }

  // True if an argument is a nested graph that writes to one of its inputs.
  bool runs_a_writing_region(const JointNode& node) {
    if (!node.args.is(JsonKind::array)) return false;
    for (const JsonMember item : node.args.items()) {
      const auto found = nodes_.by_name.find(referenced_name(item.value));
      if (found != nodes_.by_name.end() && writes_inputs(found->second)) return true;
    }
    return false;
  }

  bool writes_inputs(std::size_t at) {
    if (!nodes_.nodes[at].subgraph.present()) return false;
    const auto [known, is_new] = writing_regions_.emplace(at, false);
    if (is_new) {
      DiagnosticCollector ignored({}, {});  // the region's reader reports them
      known->second =
          !written_placeholders(read_joint_nodes(nodes_.nodes[at].subgraph, ignored)).empty();
    }
    return known->second;
  }

  // The operands of such a call: which of them it writes is not told apart.
  void follow_all(JsonValue value, int depth) {
    if (!value.present() || depth > kMaxListDepthOfOperands) return;
    if (const std::string_view name = referenced_name(value); !name.empty()) return follow(name);
    if (value.is(JsonKind::array) || value.is(JsonKind::object))
      for (const JsonMember item : value.items()) follow_all(item.value, depth + 1);
  }

  void follow(std::string_view name) {
    const auto at = nodes_.by_name.find(name);
    if (at != nodes_.by_name.end()) follow(at->second);
  }

  void follow(std::size_t at) {
    for (int i = 0; i < kMaxFollowedCalls && at < nodes_.nodes.size(); ++i) {
      const JointNode& node = nodes_.nodes[at];
      if (node.op == "placeholder") found_.insert(at);
      if (node.op != "call_function") return;
      const Operator* op = find_operator_in_file(node.target);
      if (op != nullptr && !may_be_view(*op)) return;
      at = first_operand(nodes_, node);
    }
  }

  const JointNodes& nodes_;
  std::set<std::size_t> found_;
  std::map<std::size_t, bool> writing_regions_;  // by the index of the get_attr
};

}  // namespace

std::set<std::size_t> written_placeholders(const JointNodes& nodes) {
  Writes writes(nodes);
  for (const JointNode& node : nodes.nodes) writes.add(node);
  return writes.found();
}

Result<NodeId> as_written(Graph& graph, const JointNode& node, std::string_view tensor,
                          NodeId before, NodeId value) {
  const TensorType to = graph.type(before);
  if (graph.type(value).shape != to.shape)
    return error(fmt::format("it gives {} in the place of {} {}, expected the same shape",
                             format_shape(graph.type(value).shape), quote(tensor),
                             format_shape(to.shape)));
  Builder b(graph);
  const auto scope = b.scope(
      {std::string(node.module), node.seq_nr, std::string(node.target), std::string(node.source)});
  const NodeId converted = b.convert(b.value(value), to.dtype).id();
  if (b.diagnostic()) return *b.diagnostic();
  return converted;
}

}  // namespace recut

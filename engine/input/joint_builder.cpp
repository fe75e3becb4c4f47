// Turns the node list of AOTAutograd's joint graph into a Graph (joint_builder.h):
//
//   {"name": "mm", "op": "call_function", "target": "aten.mm.default",
//    "args": [{"node": "x"}, {"node": "w"}]}       =>     %mm = mm(%x, %w) : f32[8, 3]
//
// Each node is resolved, checked against its schema and shape rule and interned, O(nodes + edges)
// in all. A node with an error gets an invalid id, and its users are skipped silently: one mistake
// gives one diagnostic.
#include "engine/input/joint_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/input/composite_operators.h"
#include "engine/input/joint_arguments.h"
#include "engine/input/joint_autocast.h"
#include "engine/input/joint_complex.h"
#include "engine/input/joint_externals.h"
#include "engine/input/joint_measured.h"
#include "engine/input/joint_outputs.h"
#include "engine/input/joint_region_writes.h"
#include "engine/input/joint_roles.h"
#include "engine/input/joint_types.h"
#include "engine/input/joint_values.h"
#include "engine/input/joint_writes.h"
#include "engine/input/written_values.h"
#include "engine/ir/call.h"
#include "engine/ir/region_call.h"
#include "engine/ir/region_memory.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kStepNodes = 1'000;

}  // namespace

class JointGraphBuilder::Builder {
 public:
  Builder(const JointNodes& nodes, std::optional<std::int64_t> forward_outputs,
          const JointRoles& roles, const Symbols& symbols, Graph& graph,
          DiagnosticCollector& diagnostics)
      : nodes_(nodes),
        forward_outputs_(forward_outputs),
        symbols_(symbols),
        graph_(graph),
        diagnostics_(diagnostics),
        types_(nodes, graph,
               [this](const JointNode& about, const std::string& message) {
                 report_error(about, message);
               }),
        values_(graph, nodes.nodes.size()) {
    if (graph.measured != nullptr) measurements_ = *graph.measured;
    roles_ = read_joint_roles(nodes, roles, diagnostics);
  }

  void add_notes(GraphFile& file) const { externals_.add_notes(file); }

  const std::vector<std::optional<std::size_t>>& places() const { return places_; }

  // The graph is a region, whose values are on the device of the graph that runs it.
  void set_nested() { nested_ = true; }

  bool step() {
    const std::size_t all = nodes_.nodes.size();
    if (!typed_) {
      typed_ = true;
      read_types();
      if (nested_)
        types_.drop_device(graph_.device);
      else
        graph_.device = types_.take_device();
      return true;
    }
    for (const std::size_t end = std::min(at_ + kStepNodes, all); at_ < end; ++at_)
      add_node(nodes_.nodes[at_]);
    if (at_ < all) return true;
    read_outputs();
    return false;
  }

 private:
  void read_outputs() {
    externals_.report_refused(nodes_, diagnostics_);
    if (measurements_.any()) graph_.measured = std::make_shared<const Measurements>(measurements_);
    if (output_.present())
      places_ = read_joint_outputs(
          output_, forward_outputs_, number_inputs_, nested_,
          [this](std::string_view name) { return find(name); }, graph_, diagnostics_);
    else if (diagnostics_.none())
      diagnostics_.add("the graph has no node 'output'");
    // Gradients of a module's forward graph are of its results alone.
    const bool detached = !forward_outputs_ && !roles_.empty();
    if (!nested_) externals_.add_written_values(values_.written_inputs(), nodes_, detached, graph_);
  }

  const JointNode& node() const { return nodes_.nodes[at_]; }

  // A graph whose outputs are all results has none: to the backward graph of a partition, its
  // tangents are inputs like the others.
  bool is_tangent(const JointNode& node) const {
    return forward_outputs_ && node.name.starts_with("tangents_");
  }
  void report_error(const std::string& message) { report_error(node(), message); }
  void report_error(const JointNode& about, const std::string& message) {
    diagnostics_.add(fmt::format("{}: {}", describe_node(about.name), message), about.object);
  }

  // Types are read first: the graph's device is the most frequent one in them.
  void read_types() {
    for (std::size_t i = 0; i < nodes_.nodes.size(); ++i) {
      auto number = read_joint_number(nodes_.nodes[i].val, symbols_);
      if (!number || *number) {  // an error is reported only if a node reads the number
        numbers_.emplace(i, number ? Result<Argument>(std::move(**number))
                                   : Result<Argument>(number.diagnostics()));
        continue;
      }
      auto types = read_joint_types(nodes_.nodes[i].val, symbols_);
      if (!types) {
        types_.set_faulty(i);
        report_error(nodes_.nodes[i], types.diagnostics().front().message);
      } else {
        types_.set(i, std::move(*types));
      }
    }
  }

  void add_node(const JointNode& node) {
    operands_.clear();
    if (!node.sound) return;
    if (output_.present()) return report_error("stands after the node 'output'");
    if (node.measured.present() && node.op != "call_function")
      return report_error("has 'measured', expected of a 'call_function' only");
    const bool tangent = is_tangent(node);
    const std::size_t position = node.op == "placeholder" && !tangent ? inputs_++ : 0;
    if (numbers_.count(at_) != 0) {
      if (node.op == "placeholder" && !tangent) number_inputs_.insert(position);
      return;
    }
    if (node.op == "placeholder") return add_input();
    if (node.op == "get_attr") return node.val.present() ? add_constant() : add_region();
    if (node.op == "call_function") return add_call();
    if (node.op == "output") return set_output();
    report_error(
        fmt::format("op {} found, expected 'placeholder', 'get_attr', 'call_function' or "
                    "'output'",
                    quote(node.op)));
  }

  void set_output() {
    output_ = node().args;
    if (!output_.present()) report_error("'args' is missing, expected a list");
  }

  Origin origin() const { return origin_of(node()); }

  void add_input() {
    const auto role = roles_.find(at_);
    if (role != roles_.end() && role->second == JointRole::buffer) return add_constant();
    InputKind kind = InputKind::input;
    if (role != roles_.end()) kind = InputKind::parameter;
    if (is_tangent(node())) kind = InputKind::tangent;
    if (auto type = types_.of_input(at_))
      define(graph_.add_input(kind, std::move(*type), origin()));
  }

  void add_constant() {
    if (auto type = types_.of_input(at_)) define(graph_.add_constant(std::move(*type), origin()));
  }

  void define(NodeId value) { values_.define(at_, value, operands_); }

  void add_call() {
    if (add_item()) return;
    const auto [op, composite, writes] = find_in_file(node().target, has_complex_number(node()));
    writes_operand_ = writes;
    if (composite != nullptr && add_composite(*composite)) return;
    if (op == nullptr || op->is(kInput)) return add_external();
    auto arguments = read_arguments(*op, false);
    if (!arguments || types_.faulty(at_)) return;
    if (writes_operand_) return add_write(*op, std::move(*arguments));
    auto types = types_.resolve(at_, *op, *arguments);
    if (!types) return;
    const NodeId id = graph_.append(op->op, std::move(*arguments), std::move(*types), origin());
    define(id);
    if (node().measured.present())
      measurements_.add(id, read_measurement(node().measured, node().name, diagnostics_));
  }

  std::optional<std::vector<Argument>> read_arguments(const Operator& op, bool composite) {
    auto arguments = read_joint_arguments(
        op, node(), graph_, [this](std::string_view name) { return find(name); },
        [this](const std::string& message) { report_error(message); });
    if (arguments && op.is(kImpure))
      if (const auto draw = op.parameter("draw")) (*arguments)[*draw] = draws_++;
    const RecordedTypes& recorded = types_.of(at_);
    if (arguments && node().autocast && recorded && !recorded->empty() && recorded->front())
      convert_for_autocast(graph_, op, composite, recorded->front()->dtype, origin(), *arguments);
    return arguments;
  }

  // One result of a composite that has several: it is known. False for any other call.
  bool add_item() {
    const Operator& getitem = operator_of(Op::getitem);
    if (node().target != getitem.target) return false;
    const auto from = nodes_.by_name.find(referenced_name(argument_of(getitem, node(), "self")));
    const auto list = from == nodes_.by_name.end() ? lists_.end() : lists_.find(from->second);
    if (list == lists_.end()) return from != nodes_.by_name.end() && add_list_of(from->second);
    JsonValue index;
    for (const JsonMember item : node().args.items()) index = item.value;
    const auto& [values, operands] = list->second;
    if (!index.is(JsonKind::integer) || index.integer() < 0 ||
        index.integer() >= static_cast<std::int64_t>(values.size())) {
      report_error(fmt::format("expected an index below {}", values.size()));
      return true;
    }
    const NodeId value = values[static_cast<std::size_t>(index.integer())];
    operands_ = operands;
    define(value);
    graph_.add_alias(std::string(node().name), value);
    return true;
  }

  // The list among the outputs of a call is known by its items. False for any other node.
  bool add_list_of(std::size_t from) {
    const auto call = values_.read(from);
    if (from >= at_ || !call || !call->valid()) return false;
    auto items = list_output(graph_, *call, node());
    if (items) operands_ = {{from, *call}};
    return items && lists_.emplace(at_, std::pair(std::move(*items), operands_)).second;
  }

  // False where the call is as the table has it, or unknown.
  bool add_composite(const CompositeOperator& composite) {
    auto arguments = read_arguments(composite.row, true);
    if (!arguments || types_.faulty(at_)) return true;
    const Call::TypesOf types_of = [this](NodeId id) { return graph_.pool().types_of(id); };
    const Diagnostics wrong = check_arguments(composite.row, *arguments, types_of);
    for (const Diagnostic& d : wrong) report_error(d.message);
    if (!wrong.empty()) return true;
    ::recut::Builder b(graph_);
    const auto scope = b.scope({std::string(node().module), node().seq_nr,
                                std::string(composite.row.name), std::string(node().source)});
    const Expansion made = composite.expand(b, Call(composite.row, *arguments, types_of));
    if (!made.applies) return operands_.clear(), false;
    if (b.diagnostic() || !made.is_whole()) {
      report_error(b.diagnostic()
                       ? b.diagnostic()->message
                       : fmt::format("an operand of {} is no tensor", composite.row.name));
      return true;
    }
    if (writes_operand_)
      add_write(composite.row, made.results.front().id());
    else
      add_results(composite, made);
    for (const auto& [parameter, value] : made.writes)
      write(referenced_name(argument_of(composite.row, node(), parameter)), value.id());
    // The call gives the tensor that it writes, not the one with the value that it writes there.
    if (!made.writes.empty() && made.writes.front().second.id() == made.results.front().id())
      define(operands_.front().value);
    return true;
  }

  void add_results(const CompositeOperator& composite, const Expansion& made) {
    std::vector<NodeId> values;
    for (const Value& result : made.results) values.push_back(result.id());
    const RecordedTypes& recorded = types_.of(at_);
    for (std::size_t i = 0; recorded && i < std::min(values.size(), recorded->size()); ++i)
      if (const RecordedType& type = (*recorded)[i];
          type && type->exists() && !same_elements(*type, graph_.type(values[i])) &&
          !types_.agree(at_, composite.row, i, *type, graph_.type(values[i])))
        return;
    if (composite.row.multiple_outputs()) {
      lists_.emplace(at_, std::pair(std::move(values), operands_));
      return;
    }
    if (!types_.count_bytes(at_, {graph_.type(values.front())})) return;
    define(values.front());
    graph_.add_alias(std::string(node().name), values.front());
  }

  // A call that writes to its first operand, of the operator without that effect.
  void add_write(const Operator& op, std::vector<Argument> arguments) {
    const Call::TypesOf types_of = [this](NodeId id) { return graph_.pool().types_of(id); };
    auto types = infer_types(op, arguments, types_of);
    if (!types) {
      for (const Diagnostic& d : types.diagnostics()) report_error(d.message);
      return;
    }
    if (types_.count_bytes(at_, *types))
      add_write(op, graph_.append(op.op, std::move(arguments), std::move(*types), origin()));
  }

  void add_write(const Operator& op, NodeId value) {
    write(referenced_name(argument_of(op, node(), op.parameters.front().name)), value);
  }

  // The file's node has a new value, and so has this call, which gives that tensor.
  void write(std::string_view name, NodeId value) {
    const auto it = nodes_.by_name.find(name);
    if (it == nodes_.by_name.end()) return;  // None stands there: nothing is written
    const auto before = values_.read(it->second);
    if (!before) return report_error(before.diagnostics().front().message);
    if (!before->valid()) return;
    const auto converted = as_written(graph_, node(), name, *before, value);
    if (!converted) return report_error(converted.diagnostics().front().message);
    const auto written = values_.write(it->second, *converted);
    if (!written) return report_error(written.diagnostics().front().message);
    const auto now = values_.read(it->second);
    if (!now) return report_error(now.diagnostics().front().message);
    operands_ = {{it->second, *now}};
    if (writes_operand_) define(*now);
  }

  // A call of an operator that the table lacks: its types are the file's. One that only writes to
  // its first operand has that operand's.
  void add_external() {
    if (types_.faulty(at_)) return;
    const bool no_value = node().val.is(JsonKind::null);
    if (no_value && !writes_operand_) return drop();
    const RecordedTypes& recorded = types_.of(at_);
    if (!recorded && !no_value) return externals_.add_refused(node().target, at_);
    const bool several = node().val.is(JsonKind::array);
    auto call =
        read_external_call(node(), several, [this](std::string_view name) { return find(name); });
    if (!call) return report_error(call.diagnostics().front().message);
    if (no_value && operands_.empty()) return drop();
    if (!call->sound) return;
    const std::vector<WrittenValues::Operand> operands = operands_;
    std::vector<TensorType> types;
    if (no_value) types.push_back(graph_.type(operands_.front().value));
    if (recorded)
      for (const RecordedType& type : *recorded) types.push_back(type.value_or(TensorType{}));
    if (!several && !types.front().exists()) return report_error("'val' has no 'dtype'");
    if (!types_.count_bytes(at_, types)) return;
    call->arguments.back() = draws_++;
    Measurement measured;
    if (node().measured.present())
      measured = read_measurement(node().measured, node().name, diagnostics_);
    const auto written = region_writes_.extend(graph_, *call->op, call->arguments, types);
    if (!written) return report_error(written.diagnostics().front().message);
    add_unread_outputs(graph_, Node{call->op->op, call->arguments, {}, {}}, types);
    const NodeId id =
        graph_.append(call->op->op, std::move(call->arguments), std::move(types), origin());
    for (const std::string& message : check_regions(graph_, id)) report_error(message);
    measured.workspace_bytes += region_bytes(graph_, id);
    if (measured.micros || measured.workspace_bytes > 0) measurements_.add(id, measured);
    if (writes_operand_ && !several && !operands_.empty())
      write(nodes_.nodes[operands_.front().at].name, id);
    else
      define(id);
    const auto writes = region_writes_.writes(graph_, id, *written, operands, values_);
    if (!writes) return report_error(writes.diagnostics().front().message);
    for (const auto& [at, value] : *writes) write(nodes_.nodes[at].name, value);
  }

  // A call that gives nothing, as an assertion: nothing of the step depends on it.
  void drop() {
    externals_.add_dropped(node().target);
    numbers_.emplace(at_, error("it has no value"));
  }

  // A nested graph is an argument of the call that runs it: by name.
  void add_region() {
    numbers_.emplace(at_, Argument(std::string(node().name)));
    if (!node().subgraph.present()) return externals_.add_missing_region(node().name);
    const JointNodes nodes = read_joint_nodes(node().subgraph, diagnostics_);
    Graph region;
    region.name = node().name;
    region.device = graph_.device;
    Builder nested(nodes, std::nullopt, {}, symbols_, region, diagnostics_);
    nested.set_nested();
    while (nested.step()) {
    }
    if (!diagnostics_.none()) return;
    externals_.add_all(nested.externals_);
    const auto added = region_writes_.add(graph_, std::string(node().name), std::move(region),
                                          nodes, nested.values_.written_inputs());
    if (!added) report_error(added.diagnostics().front().message);
  }

  // The node of a name (invalid if it is faulty), or the number of a symbolic size.
  Result<Argument> find(std::string_view name) {
    const auto it = nodes_.by_name.find(name);
    if (it == nodes_.by_name.end()) return error(fmt::format("there is no node {}", quote(name)));
    if (it->second == at_) return error(fmt::format("{} uses itself", quote(name)));
    if (it->second > at_) return error(fmt::format("node {} stands later", quote(name)));
    if (const auto number = numbers_.find(it->second); number != numbers_.end())
      return number->second;
    const auto value = values_.read(it->second);
    if (!value) return value.diagnostics();
    operands_.push_back({it->second, *value});
    return Argument(*value);
  }

  const JointNodes& nodes_;
  const std::optional<std::int64_t> forward_outputs_;
  const Symbols& symbols_;
  Graph& graph_;
  DiagnosticCollector& diagnostics_;
  std::map<std::size_t, JointRole> roles_;  // by index
  std::size_t at_ = 0;                      // the node that is being added
  JointTypes types_;
  bool typed_ = false, nested_ = false;
  WrittenValues values_;                          // by index; invalid if the node is faulty
  std::vector<WrittenValues::Operand> operands_;  // of the node that is being added, so far
  bool writes_operand_ = false;                   // the node writes to its first operand
  // Results of composites that have several, and the operands of each.
  std::map<std::size_t, std::pair<std::vector<NodeId>, std::vector<WrittenValues::Operand>>> lists_;
  std::map<std::size_t, Result<Argument>> numbers_;  // of nodes that are symbolic sizes, by index
  std::size_t inputs_ = 0;                           // non-tangent placeholders so far
  std::set<std::size_t> number_inputs_;              // of these, the symbolic sizes
  ExternalCalls externals_;
  RegionWrites region_writes_;
  Measurements measurements_;
  std::int64_t draws_ = 0;
  JsonValue output_;
  std::vector<std::optional<std::size_t>> places_;
};

JointGraphBuilder::JointGraphBuilder(const JointNodes& nodes,
                                     std::optional<std::int64_t> forward_outputs,
                                     const JointRoles& roles, const Symbols& symbols, Graph& graph,
                                     DiagnosticCollector& diagnostics)
    : builder_(
          std::make_unique<Builder>(nodes, forward_outputs, roles, symbols, graph, diagnostics)) {}
JointGraphBuilder::~JointGraphBuilder() = default;
bool JointGraphBuilder::step() { return builder_->step(); }
const std::vector<std::optional<std::size_t>>& JointGraphBuilder::result_places() const {
  return builder_->places();
}
void JointGraphBuilder::add_notes(GraphFile& file) const { builder_->add_notes(file); }

}  // namespace recut

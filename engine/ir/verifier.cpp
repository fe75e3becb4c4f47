// One pass over the graph in program order, O(nodes + edges) plus one shape inference a call.
// Failures are collected, not thrown; the list of invariants is in verifier.h. Invariant 11 holds
// by construction (NodePool::intern). A graph derived from a verified one skips schema and shape
// rule of the nodes that both share, which is most of them after a pass.
#include "engine/ir/verifier.h"

#include <fmt/core.h>

#include "engine/ir/call.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/region_call.h"
#include "engine/support/text.h"

namespace recut {
namespace {

// True if two lists of arguments are equal up to operands of equal types.
bool alike(const NodePool& pool, std::span<const Argument> a, std::span<const Argument> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto *x = a[i].get<NodeId>(), *y = b[i].get<NodeId>();
    const auto *many = a[i].get<ArgumentList>(), *others = b[i].get<ArgumentList>();
    const bool same = x != nullptr && y != nullptr
                          ? *x == *y || pool[*x].outputs == pool[*y].outputs
                      : many != nullptr && others != nullptr ? alike(pool, *many, *others)
                                                             : a[i] == b[i];
    if (!same) return false;
  }
  return true;
}

class Verifier {
 public:
  Verifier(const Graph& graph, const Graph* sound)
      : graph_(graph),
        sound_(sound != nullptr && sound->shared_pool() == graph.shared_pool() ? sound : nullptr),
        types_of_([this](NodeId id) { return graph_.pool().types_of(id); }),
        needs_tangent_(graph.order().size(), false) {}

  Failures run() {
    for (const NodeId id : graph_.order()) check_node(id);
    check_outputs();
    if (failures_.empty())
      for (std::string& fault : check_signature(graph_)) fail(NodeId(), 13, std::move(fault));
    return std::move(failures_);
  }

 private:
  void fail(NodeId node, int invariant, std::string message) {
    failures_.push_back({node, invariant, std::move(message)});
  }

  void check_node(NodeId id) {
    const Node& node = graph_[id];
    const bool known = is_known(id, node);
    check_name(id);
    if (!known)
      for (const TensorType& type : node.outputs) check_type(id, type);
    const bool operands_stand = check_operands(id, node);
    const Operator& op = operator_of(node.op);
    if (op.is(kInput)) return check_input(id, node);
    if (operands_stand && !known) check_call(id, node, op);
    if (operands_stand && !(known && sound_->regions == graph_.regions)) check_regions_of(id);
  }

  // True if the verified graph has the node, or a node of its name that differs only in operands of
  // equal types: invariants 3 to 5 depend on nothing else.
  bool is_known(NodeId id, const Node& node) const {
    if (sound_ == nullptr) return false;
    if (sound_->contains(id)) return true;
    const NodeId like = sound_->find(graph_.node_name(id));
    if (!like.valid()) return false;
    const Node& other = (*sound_)[like];
    return other.op == node.op && other.outputs == node.outputs &&
           alike(graph_.pool(), other.arguments, node.arguments);
  }

  void check_name(NodeId id) {
    const std::string& name = graph_.node_name(id);
    if (name.empty()) fail(id, 2, "the node has no name");
    if (!graph_.owns_its_name(id))
      fail(id, 2, fmt::format("the name '{}' is that of another node too", name));
  }

  void check_type(NodeId id, const TensorType& type) {
    if (!type.exists()) return;
    if (type.strides.size() != type.shape.size())
      return fail(
          id, 5,
          fmt::format("{} strides for {} dimensions", type.strides.size(), type.shape.size()));
    const auto sound = check_size(type);
    if (!sound) fail(id, 5, sound.diagnostics().front().message);
  }

  bool check_operands(NodeId id, const Node& node) {
    bool stand = true;
    const std::size_t here = graph_.position(id);
    for (const NodeId operand : node.operands) {
      if (!graph_.contains(operand)) {
        fail(id, 1, fmt::format("operand {} is not in the graph", operand.index));
        stand = false;
      } else if (graph_.position(operand) >= here) {
        fail(id, 1, fmt::format("operand %{} stands after its user", graph_.node_name(operand)));
        stand = false;
      } else if (needs_tangent_[graph_.position(operand)]) {
        needs_tangent_[here] = true;
      }
    }
    return stand;
  }

  void check_input(NodeId id, const Node& node) {
    if (node.op == Op::placeholder && !graph_.is_input(id))
      return fail(id, 6, "a placeholder that is none of the graph's inputs");
    if (node.op == Op::placeholder && graph_.input_kind(id) == InputKind::tangent)
      needs_tangent_[graph_.position(id)] = true;
    if (!node.operands.empty()) fail(id, 6, "an input takes no operands");
  }

  void check_call(NodeId id, const Node& node, const Operator& op) {
    for (const Diagnostic& d : check_arguments(op, node.arguments, types_of_))
      return fail(id, 3, d.message);
    if (op.is(kDataDependent)) return;
    if (dtype_without_arithmetic(node.arguments, node.outputs, types_of_) != DType::none) return;
    const auto inferred = infer_checked_types(op, node.arguments, types_of_);
    if (!inferred) return fail(id, 4, inferred.diagnostics().front().message);
    if (inferred->size() != node.outputs.size())
      return fail(
          id, 4,
          fmt::format("{} outputs recorded, {} inferred", node.outputs.size(), inferred->size()));
    for (std::size_t i = 0; i < inferred->size(); ++i)
      check_inferred(id, i, node.outputs[i], (*inferred)[i]);
  }

  void check_regions_of(NodeId id) {
    for (const std::string_view name : named_regions(graph_, id)) {
      const Graph& region = *graph_.region(name);
      for (const Failure& failure : verify(region))
        fail(id, 12,
             fmt::format("nested graph {}: {}invariant {}: {}", quote(name),
                         failure.node.valid() ? quote(region.node_name(failure.node)) + ": " : "",
                         failure.invariant, failure.message));
    }
    for (std::string& message : check_regions(graph_, id)) fail(id, 12, std::move(message));
  }

  // An output that the caller masked out may be recorded as none whatever the rule says.
  void check_inferred(NodeId id, std::size_t index, const TensorType& recorded,
                      const TensorType& inferred) {
    if (!recorded.exists() && graph_.op(id).multiple_outputs()) return;
    if (recorded.dtype == inferred.dtype && recorded.shape == inferred.shape) return;
    fail(id, 4,
         fmt::format("output {} is recorded as {}{}, the operator gives {}{}", index,
                     short_name(recorded.dtype), format_shape(recorded.shape),
                     short_name(inferred.dtype), format_shape(inferred.shape)));
  }

  void check_outputs() {
    for (std::size_t i = 0; i < graph_.results.size(); ++i) check_result(i, graph_.results[i]);
    std::vector<NodeId> differentiated;
    for (const NodeId id : graph_.inputs())
      if (graph_.input_kind(id) != InputKind::tangent) differentiated.push_back(id);
    if (!graph_.gradients.empty() && graph_.gradients.size() != differentiated.size())
      return fail(NodeId(), 8,
                  fmt::format("{} gradients for {} placeholders that are no tangents, expected one "
                              "for each, or none",
                              graph_.gradients.size(), differentiated.size()));
    for (std::size_t i = 0; i < graph_.gradients.size(); ++i)
      check_gradient(i, graph_.gradients[i], differentiated[i]);
  }

  void check_result(std::size_t index, NodeId id) {
    if (!id.valid()) return;
    if (!is_tensor(id))
      return fail(NodeId(), 7, fmt::format("result {} is no tensor of the graph", index));
    if (needs_tangent_[graph_.position(id)])
      fail(id, 10, fmt::format("result {} depends on a tangent", index));
  }

  void check_gradient(std::size_t index, NodeId id, NodeId input) {
    if (!id.valid()) return;
    if (!is_tensor(id))
      return fail(NodeId(), 7, fmt::format("gradient {} is no tensor of the graph", index));
    if (graph_.type(id).shape != graph_.type(input).shape)
      fail(
          id, 9,
          fmt::format("the gradient of %{} has shape {}, expected {}", graph_.node_name(input),
                      format_shape(graph_.type(id).shape), format_shape(graph_.type(input).shape)));
  }

  bool is_tensor(NodeId id) const {
    return graph_.contains(id) && graph_[id].outputs.size() == 1 && graph_.type(id).exists();
  }

  const Graph& graph_;
  const Graph* sound_;  // null: nothing is known of any node
  const Call::TypesOf types_of_;
  std::vector<bool> needs_tangent_;  // by position
  Failures failures_;
};

}  // namespace

Failures verify(const Graph& graph) { return Verifier(graph, nullptr).run(); }

Failures verify(const Graph& graph, const Graph& sound) { return Verifier(graph, &sound).run(); }

}  // namespace recut

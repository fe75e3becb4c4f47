#include "tests/random/shrink.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "engine/ir/rebuild.h"

namespace recut::test {
namespace {

// The one difference between a graph and its copy.
struct Edit {
  NodeId node;               // this one becomes
  NodeId successor;          // an earlier one; invalid: an input of its type
  std::int64_t length = 0;   // every dimension and size of this length
  std::int64_t shorter = 0;  // is that long
  bool drop_unused_inputs = false;
};

// Copies a graph into a pool of its own and infers every type anew; none where a call no longer
// fits.
class Copier {
 public:
  Copier(const Graph& from, const Edit& edit)
      : from_(from), edit_(edit), map_(from.order().size()) {
    to_.name = from.name;
    to_.device = from.device;
  }

  std::optional<Graph> run() {
    mark_tangents();
    for (const NodeId id : from_.order())
      if (!copy(id)) return std::nullopt;
    for (const NodeId id : from_.results) to_.results.push_back(mapped(id));
    if (!from_.gradients.empty()) to_.gradients = std::move(gradients_);
    for (NodeId& id : to_.gradients) id = id.valid() ? mapped(id) : id;
    return std::move(to_);
  }

 private:
  NodeId mapped(NodeId id) const { return id.valid() ? map_[from_.position(id)] : id; }

  // A value that depends on a tangent may only be replaced by another tangent.
  void mark_tangents() {
    for (const NodeId id : from_.order()) {
      bool depends = from_.is_input(id) && from_.input_kind(id) == InputKind::tangent;
      for (const NodeId operand : from_[id].operands)
        depends = depends || depends_on_tangent_.count(operand) != 0;
      if (depends) depends_on_tangent_.insert(id);
    }
  }

  bool copy(NodeId id) {
    const Node& node = from_[id];
    NodeId& image = map_[from_.position(id)];
    if (id == edit_.node) {
      image = edit_.successor.valid() ? mapped(edit_.successor) : cut(id);
      return true;
    }
    if (operator_of(node.op).is(kInput)) {
      image = copy_input(id, node);
      return true;
    }
    std::vector<Argument> arguments = node.arguments;
    for (Argument& a : arguments) {
      for_each_node(a, [&](NodeId& operand) { operand = mapped(operand); });
      shorten(a);
    }
    const auto made = to_.make(node.op, std::move(arguments), from_.origin(id));
    if (!made) return false;
    image = *made;
    return to_[image].outputs.size() == node.outputs.size();
  }

  NodeId copy_input(NodeId id, const Node& node) {
    TensorType type = node.type();
    for (std::int64_t& n : type.shape)
      if (n == edit_.length) n = edit_.shorter;
    if (type.shape != node.type().shape) type.strides = contiguous_strides(type.shape);
    if (!from_.is_input(id)) return to_.add_constant(std::move(type), from_.origin(id));
    const InputKind kind = from_.input_kind(id);
    const bool drop = !take_gradient(kind) && edit_.drop_unused_inputs && unused(id);
    if (drop) return NodeId();
    if (kind != InputKind::tangent) gradients_.push_back(gradient_);
    return to_.add_input(kind, std::move(type), from_.origin(id));
  }

  // Moves on to the next gradient, if the input has one; returns whether it has.
  bool take_gradient(InputKind kind) {
    gradient_ = NodeId();
    if (!from_.gradients.empty() && kind != InputKind::tangent)
      gradient_ = from_.gradients[next_gradient_++];
    return gradient_.valid();
  }

  bool unused(NodeId id) const {
    const auto uses = [&](const std::vector<NodeId>& ids) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    return !uses(from_.results) && !uses(from_.gradients) && Users(from_).of(id).empty();
  }

  // Replaces a call by an input without a gradient.
  NodeId cut(NodeId id) {
    const bool tangent = depends_on_tangent_.count(id) != 0;
    if (!tangent) gradients_.push_back(NodeId());
    return to_.add_input(tangent ? InputKind::tangent : InputKind::input, from_.type(id),
                         from_.origin(id));
  }

  // Sizes are in lists: those of view, expand, full. Positions and steps are single numbers.
  void shorten(Argument& argument) {
    if (edit_.length == 0) return;
    auto* list = std::get_if<ArgumentList>(&argument.value);
    if (list == nullptr) return;
    for (Argument& item : *list)
      if (const auto* n = item.get<std::int64_t>(); n != nullptr && *n == edit_.length)
        item = edit_.shorter;
  }

  const Graph& from_;
  const Edit& edit_;
  Graph to_;
  std::vector<NodeId> map_;        // by position
  std::vector<NodeId> gradients_;  // of `from`
  NodeId gradient_;                // of the current input
  std::size_t next_gradient_ = 0;
  std::set<NodeId> depends_on_tangent_;
};

class Shrinker {
 public:
  Shrinker(const Graph& graph, const Fails& fails) : graph_(graph), fails_(fails) {}

  Graph run() {
    while (drop_outputs() || drop_dead_nodes() || replace_nodes() || shorten_dimensions()) {
    }
    return std::move(graph_);
  }

 private:
  bool accept(std::optional<Graph> candidate) {
    if (!candidate || !fails_(*candidate)) return false;
    graph_ = std::move(*candidate);
    return true;
  }

  bool drop_outputs() {
    if (!graph_.gradients.empty()) {
      Graph candidate = graph_;
      candidate.gradients.clear();
      if (accept(std::move(candidate))) return true;
    }
    for (std::size_t i = graph_.results.size(); i-- > 0;) {
      Graph candidate = graph_;
      candidate.results.erase(candidate.results.begin() + static_cast<std::ptrdiff_t>(i));
      if (accept(std::move(candidate))) return true;
    }
    for (std::size_t i = 0; i < graph_.gradients.size(); ++i) {
      Graph candidate = graph_;
      candidate.gradients[i] = NodeId();
      if (graph_.gradients[i].valid() && accept(std::move(candidate))) return true;
    }
    return false;
  }

  bool drop_dead_nodes() {
    const std::size_t nodes = graph_.order().size();
    Graph live = without_dead_nodes(graph_);
    if (live.order().size() < nodes && accept(std::move(live))) return true;
    auto candidate = Copier(graph_, Edit{{}, {}, 0, 0, true}).run();
    return candidate && candidate->order().size() < nodes && accept(std::move(candidate));
  }

  // From the end: cutting there removes most with it.
  bool replace_nodes() {
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (std::size_t i = order.size(); i-- > 0;) {
      const Node& node = graph_[order[i]];
      if (operator_of(node.op).is(kInput) || node.outputs.size() != 1) continue;
      for (const NodeId operand : node.operands)
        if (graph_.type(operand).shape == node.type().shape &&
            accept(Copier(graph_, Edit{order[i], operand}).run()))
          return true;
      if (!node.operands.empty() && accept(Copier(graph_, Edit{order[i], {}}).run())) return true;
    }
    return false;
  }

  // Shortens all dimensions of one length at once, so that shapes still fit.
  bool shorten_dimensions() {
    std::set<std::int64_t> lengths;
    for (const NodeId id : graph_.order())
      for (const TensorType& type : graph_[id].outputs)
        lengths.insert(type.shape.begin(), type.shape.end());
    for (auto it = lengths.rbegin(); it != lengths.rend(); ++it)
      for (std::int64_t shorter = 1; shorter < *it; ++shorter)
        if (accept(Copier(graph_, Edit{{}, {}, *it, shorter}).run())) return true;
    return false;
  }

  Graph graph_;
  const Fails& fails_;
};

}  // namespace

Graph shrink(const Graph& graph, const Fails& fails) { return Shrinker(graph, fails).run(); }

}  // namespace recut::test

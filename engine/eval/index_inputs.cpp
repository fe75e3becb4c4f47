#include "engine/eval/index_inputs.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/ir/call.h"

namespace recut {
namespace {

constexpr std::string_view kIndexParameters[] = {"index", "indices"};
constexpr std::uint32_t kKeepsIndices = kView | kCopy | kPointwise;

// The values of an input, and the calls at them.
class IndexUses {
 public:
  IndexUses(const Graph& graph, NodeId input) : graph_(graph), made_(graph.order().size()) {
    made_[graph.position(input)] = true;
  }

  bool finds_one_element() {
    for (const NodeId id : graph_.order()) {
      const std::vector<NodeId>& operands = graph_[id].operands;
      if (!std::any_of(operands.begin(), operands.end(), [&](NodeId o) { return is_made(o); }))
        continue;
      const Operator& op = graph_.op(id);
      if (op.is(kScatterGather) && indexes_one(id)) return true;
      const std::vector<TensorType>& types = graph_[id].outputs;
      if ((op.flags & kKeepsIndices) != 0 && !types.empty() && is_integral(types.front().dtype))
        made_[graph_.position(id)] = true;
    }
    return false;
  }

 private:
  bool is_made(NodeId id) const { return made_[graph_.position(id)]; }

  bool indexes_one(NodeId id) const {
    const Call::TypesOf types_of = [this](NodeId node) { return graph_.pool().types_of(node); };
    const Call call(graph_.op(id), graph_[id].arguments, types_of);
    for (const std::string_view name : kIndexParameters) {
      if (!call.op().parameter(name)) continue;
      const Argument& index = call.argument(name);
      if (const auto* node = index.get<NodeId>()) return is_made(*node) && indexed_size(call) == 1;
      if (const auto* list = index.get<ArgumentList>()) return indexes_one_of(call, *list);
    }
    return false;
  }

  // The dimension `dim`, or rows of the first operand, or of the table that a gradient belongs to.
  static std::int64_t indexed_size(const Call& call) {
    if (call.op().parameter("num_weights")) return call.integer("num_weights");
    const Shape& shape = call.tensor(call.op().parameters.front().name).shape;
    if (shape.empty()) return 1;
    const std::int64_t dim = call.op().parameter("dim") ? call.integer("dim") : 0;
    return shape[static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(shape.size())
                                                  : dim)];
  }

  // Each index of a list belongs to the dimension at its place.
  bool indexes_one_of(const Call& call, const ArgumentList& list) const {
    const Shape& shape = call.tensor(call.op().parameters.front().name).shape;
    for (std::size_t d = 0; d < std::min(list.size(), shape.size()); ++d)
      if (const auto* node = list[d].get<NodeId>(); node != nullptr && is_made(*node))
        if (shape[d] == 1) return true;
    return false;
  }

  const Graph& graph_;
  std::vector<bool> made_;  // by position
};

}  // namespace

bool indexes_one_element(const Graph& graph, NodeId input) {
  return IndexUses(graph, input).finds_one_element();
}

}  // namespace recut

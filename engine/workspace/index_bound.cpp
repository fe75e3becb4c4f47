#include "engine/workspace/index_bound.h"

#include <algorithm>
#include <set>

#include "engine/ir/call.h"

namespace recut {
namespace {

// The output's integers are those of the input, moved or mixed with others.
bool forwards_integers(const Operator& op) {
  switch (op.op) {
    case Op::clone:
    case Op::_to_copy:
    case Op::prims_convert_element_type:
    case Op::constant_pad_nd:
    case Op::where_self:
    case Op::masked_fill_Scalar:
    case Op::cat:
      return true;
    default:
      return op.is(kView);
  }
}

class BoundFinder {
 public:
  explicit BoundFinder(const Graph& graph) : graph_(graph), users_(graph) {}

  std::optional<std::int64_t> find(NodeId value) {
    std::vector<NodeId> same{value};
    std::set<NodeId> seen{value};
    for (std::size_t i = 0; i < same.size(); ++i)
      for (const NodeId user : users_.of(same[i])) {
        bound_from_reader(user, same[i]);
        if (forwards_integers(graph_.op(user)) && is_integral(graph_.type(user).dtype) &&
            seen.insert(user).second)
          same.push_back(user);
      }
    return bound_;
  }

 private:
  void take(std::int64_t bound) { bound_ = std::min(bound_.value_or(bound), bound); }

  void take(const TensorType& indexed, std::int64_t dimension) {
    if (const auto at = wrap_dimension(dimension, indexed.rank()); at && indexed.rank() > 0)
      take(indexed.shape[static_cast<std::size_t>(*at)]);
  }

  void bound_from_reader(NodeId user, NodeId value) {
    const Operator& op = graph_.op(user);
    const Call::TypesOf types = [&](NodeId id) { return graph_.pool().types_of(id); };
    const Call call(op, graph_[user].arguments, types);
    const auto is_at = [&](std::string_view parameter) {
      return op.parameter(parameter) && call.node(parameter) == value;
    };
    if (op.op == Op::one_hot) {
      take(call.integer("num_classes"));
    } else if (op.op == Op::embedding) {
      if (is_at("indices")) take(call.tensor("weight"), 0);
    } else if (op.op == Op::index_Tensor || op.op == Op::_unsafe_index_Tensor) {
      const std::vector<NodeId> indices = call.nodes("indices");
      for (std::size_t i = 0; i < indices.size(); ++i)
        if (indices[i] == value) take(call.tensor("self"), static_cast<std::int64_t>(i));
    } else if (op.parameter("dim") && op.parameter("self") && is_at("index")) {
      take(call.tensor("self"), call.integer("dim"));
    } else if (op.parameter("ignore_index") && is_at("target")) {
      take(call.tensor("self"), call.tensor("self").rank() == 1 ? 0 : 1);
    }
  }

  const Graph& graph_;
  const Users users_;
  std::optional<std::int64_t> bound_;
};

}  // namespace

std::optional<std::int64_t> index_bound(const Graph& graph, NodeId value) {
  return BoundFinder(graph).find(value);
}

}  // namespace recut

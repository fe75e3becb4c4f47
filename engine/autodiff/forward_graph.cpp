#include <fmt/core.h>

#include <algorithm>

#include "engine/autodiff/differentiate.h"
#include "engine/autodiff/requires_grad.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/rebuild.h"

namespace recut {
namespace {

std::vector<NodeId> tangents_of(const Graph& graph) {
  std::vector<NodeId> tangents;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::tangent) tangents.push_back(id);
  return tangents;
}

bool same_kind(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

// Matches each tangent to a result of its type, in order: the assignment of least total cost, ties
// going to earlier results. Dynamic programming: table[i][j] is the least cost for the first i
// results and the first j tangents. O(results * tangents).
class TangentMatching {
 public:
  TangentMatching(std::vector<int> costs, std::vector<std::vector<bool>> fits, std::size_t tangents)
      : costs_(std::move(costs)),
        fits_(std::move(fits)),
        tangents_(tangents),
        table_(costs_.size() + 1, std::vector<int>(tangents + 1, kImpossible)) {
    for (auto& row : table_) row[0] = 0;
    for (std::size_t i = 1; i < table_.size(); ++i)
      for (std::size_t j = 1; j <= tangents_; ++j)
        table_[i][j] = std::min(table_[i - 1][j], taken(i, j));
  }

  std::optional<std::vector<std::size_t>> indices() const {
    std::vector<std::size_t> indices;
    std::size_t j = tangents_;
    if (table_.back()[j] >= kImpossible) return std::nullopt;
    for (std::size_t i = costs_.size(); j > 0; --i)
      if (taken(i, j) < table_[i - 1][j]) indices.push_back(i - 1), --j;
    std::reverse(indices.begin(), indices.end());
    return indices;
  }

 private:
  static constexpr int kImpossible = 1 << 28;

  int taken(std::size_t i, std::size_t j) const {
    return fits_[i - 1][j - 1] ? std::min(kImpossible, table_[i - 1][j - 1] + costs_[i - 1])
                               : kImpossible;
  }

  std::vector<int> costs_;
  std::vector<std::vector<bool>> fits_;  // by result, by tangent
  std::size_t tangents_;
  std::vector<std::vector<int>> table_;
};

std::optional<std::vector<std::size_t>> match(const Graph& forward, const Graph& joint) {
  if (joint.signature != nullptr && !joint.signature->tangent_of.empty())
    return joint.signature->tangent_of;
  const auto tangents = tangents_of(joint);
  const auto requires_grad = autodiff::inputs_requiring_grad(forward, std::nullopt);
  const std::vector<bool> active = autodiff::active_nodes(forward, *requires_grad);
  std::vector<int> costs;
  std::vector<std::vector<bool>> fits;
  for (std::size_t i = 0; i < forward.results.size(); ++i) {
    const NodeId result = forward.results[i];
    std::vector<bool> row;
    for (const NodeId tangent : tangents)
      row.push_back(result.valid() && same_kind(joint.type(tangent), forward.type(result)));
    fits.push_back(std::move(row));
    const bool depends = result.valid() && active[forward.position(result)];
    costs.push_back(!depends ? 2 : autodiff::updates_buffer(forward, i) ? 1 : 0);
  }
  return TangentMatching(std::move(costs), std::move(fits), tangents.size()).indices();
}

}  // namespace

Result<ForwardGraph> extract_forward_graph(const Graph& joint) {
  if (const auto inputs = autodiff::inputs_requiring_grad(joint, std::nullopt); !inputs)
    return inputs.diagnostics();
  ForwardGraph forward{joint.empty_like(), {}};
  Graph whole = joint.empty_like();
  const std::vector<bool> late = needs_tangent(joint);
  for (const NodeId id : joint.order()) {
    const Node& node = joint[id];
    if (late[joint.position(id)]) continue;
    if (node.op != Op::placeholder)
      whole.append(node.op, node.arguments, node.outputs, joint.origin(id));
    else
      whole.add_input(joint.input_kind(id), node.type(), joint.origin(id));
  }
  for (const auto& [alias, id] : joint.aliases())
    if (whole.contains(id)) whole.add_alias(alias, id);
  whole.results = joint.results;
  set_signature(whole, without_tangents(joint));
  forward.graph = without_dead_nodes(whole);
  const auto indices = match(forward.graph, joint);
  if (!indices)
    return error("a tangent of the joint graph has the type of none of its results, in order");
  forward.differentiable = *indices;
  return forward;
}

}  // namespace recut

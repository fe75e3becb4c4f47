// Walks forward calls in program order with one fact for each value: the dimension that is cut.
// Sharding rules tell how a dimension passes through a call, so that no operator is known by name.
#include "engine/mesh/spmd/product_pairs.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/ir/data_flow.h"
#include "engine/mesh/rules/propagate.h"
#include "engine/mesh/rules/sharding_rule.h"

namespace recut::mesh {
namespace {

constexpr int kUnknown = -1;  // a dimension is cut, but which one is lost

int factor_of(const DimensionFactors& dims, int dim) {
  return dim < 0 ? -1 : dims[static_cast<std::size_t>(dim)];
}

int dim_of(const DimensionFactors& dims, int factor) {
  const auto found = std::find(dims.begin(), dims.end(), factor);
  return factor < 0 || found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

class PairFinder {
 public:
  explicit PairFinder(const Graph& graph) : graph_(graph) {}

  std::map<NodeId, int> run() && {
    const std::vector<bool> backward = needs_tangent(graph_);
    for (const NodeId id : graph_.order())
      if (!graph_.op(id).is(kInput) && !backward[graph_.position(id)]) visit(id);
    return std::move(dims_);
  }

 private:
  // A dimension of a parameter that a call reads through views.
  struct Source {
    NodeId parameter;
    int dim = -1;
  };

  bool is_weight(NodeId id) const {
    return graph_.is_input(id) && graph_.input_kind(id) == InputKind::parameter;
  }

  NodeId parameter_of(NodeId id) const {
    while (graph_.op(id).is(kView) && graph_[id].operands.size() == 1)
      id = graph_[id].operands.front();
    return is_weight(id) ? id : NodeId();
  }

  // Follows a dimension back through views.
  std::optional<Source> source_of(NodeId id, int dim) const {
    while (dim >= 0 && !is_weight(id)) {
      if (!graph_.op(id).is(kView) || graph_[id].operands.size() != 1) return std::nullopt;
      const ShardingRule rule = sharding_rule(graph_, id);
      dim = dim_of(rule.operands.front(), factor_of(rule.results.front(), dim));
      id = graph_[id].operands.front();
    }
    if (dim < 0) return std::nullopt;
    return Source{id, dim};
  }

  // The first call decides about a parameter that several read.
  void cut(NodeId operand, int dim) {
    if (const auto source = source_of(operand, dim)) dims_.emplace(source->parameter, source->dim);
  }

  std::optional<int> cut_of(NodeId reader, NodeId operand) const {
    const auto found = cut_.find(operand_value(graph_, reader, operand));
    return found == cut_.end() ? std::nullopt : std::optional(found->second);
  }

  void visit(NodeId id) {
    const ShardingRule rule = sharding_rule(graph_, id);
    const std::vector<NodeId> operands = operand_nodes(graph_[id].arguments);
    if (graph_.op(id).is(kMatrixProduct) && visit_product(id, rule, operands)) return;
    if (visit_table(rule, operands)) return;
    pass(id, rule, operands);
  }

  // True if the call is the product of a weight and a value.
  bool visit_product(NodeId id, const ShardingRule& rule, const std::vector<NodeId>& operands) {
    for (std::size_t w = 0; w < operands.size(); ++w) {
      if (rule.operands[w].size() < 2 || !parameter_of(operands[w]).valid()) continue;
      for (std::size_t x = 0; x < operands.size(); ++x)
        if (x != w && !parameter_of(operands[x]).valid())
          if (const auto contracted = contracted_factor(rule, x, w))
            return pair(id, rule, operands, x, w, *contracted);
    }
    return false;
  }

  // The factor that the product sums over.
  static std::optional<int> contracted_factor(const ShardingRule& rule, std::size_t x,
                                              std::size_t w) {
    for (const int f : rule.operands[w])
      if (f >= 0 && rule.factors[static_cast<std::size_t>(f)].kind == FactorKind::reduce &&
          dim_of(rule.operands[x], f) >= 0)
        return f;
    return std::nullopt;
  }

  bool pair(NodeId id, const ShardingRule& rule, const std::vector<NodeId>& operands, std::size_t x,
            std::size_t w, int contracted) {
    if (const auto dim = cut_of(id, operands[x])) {
      const bool row = *dim == kUnknown || factor_of(rule.operands[x], *dim) == contracted;
      if (row) cut(operands[w], dim_of(rule.operands[w], contracted));
      if (row) return true;
      pass(id, rule, operands);
      return true;
    }
    for (const int f : rule.operands[w]) {
      if (f < 0 || f == contracted || dim_of(rule.operands[x], f) >= 0) continue;
      for (std::size_t i = 0; i < operands.size(); ++i)  // the weight, and a bias of the product
        cut(operands[i], dim_of(rule.operands[i], f));
      cut_[{id, 0}] = dim_of(rule.results.front(), f);
      return true;
    }
    return false;
  }

  // True if indices read a table that is a parameter.
  bool visit_table(const ShardingRule& rule, const std::vector<NodeId>& operands) {
    bool found = false;
    for (std::size_t i = 0; i < operands.size(); ++i)
      for (std::size_t d = 0; d < rule.operands[i].size(); ++d) {
        const int f = rule.operands[i][d];
        if (f < 0 || rule.factors[static_cast<std::size_t>(f)].kind != FactorKind::masked) continue;
        if (!parameter_of(operands[i]).valid()) continue;
        cut(operands[i], static_cast<int>(d));
        found = true;
      }
    return found;
  }

  void pass(NodeId id, const ShardingRule& rule, const std::vector<NodeId>& operands) {
    std::optional<int> factor;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (const auto dim = cut_of(id, operands[i])) {
        const int f = factor_of(rule.operands[i], *dim);
        if (!factor || *factor < 0) factor = f;
      }
    if (!factor) return;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (parameter_of(operands[i]).valid()) cut(operands[i], dim_of(rule.operands[i], *factor));
    for (std::size_t r = 0; r < rule.results.size(); ++r)
      cut_[{id, r}] = dim_of(rule.results[r], *factor);
  }

  const Graph& graph_;
  std::map<ValueKey, int> cut_;
  std::map<NodeId, int> dims_;
};

}  // namespace

std::map<NodeId, int> product_pairs(const Graph& graph) { return PairFinder(graph).run(); }

}  // namespace recut::mesh

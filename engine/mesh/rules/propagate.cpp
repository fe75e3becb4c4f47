#include "engine/mesh/rules/propagate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/mesh/rules/redistribution_bytes.h"
#include "engine/mesh/rules/sharding_rule.h"

namespace recut::mesh {
namespace {

// A strategy's cost. Among equal ones that is chosen which sends least now.
struct StrategyCost {
  std::int64_t total = 0, now = 0;
  bool operator<(const StrategyCost& other) const {
    return std::tie(total, now) < std::tie(other.total, other.now);
  }
};

class AxisChoice {
 public:
  AxisChoice(const Graph& graph, const std::vector<std::int64_t>& sizes, std::size_t axis,
             const std::map<NodeId, AxisPlacements>& inputs, GraphPlacements& out)
      : graph_(graph),
        sizes_(sizes),
        axis_(axis),
        ranks_(sizes[axis]),
        inputs_(inputs),
        out_(out) {}

  void run() {
    for (const NodeId id : graph_.order()) {
      if (graph_.op(id).is(kInput))
        place_input(id);
      else
        place_call(id);
    }
  }

 private:
  // The type of a value as ranks of the axis share it: earlier axes have cut it.
  TensorType shared_type(NodeId id, std::size_t output) const {
    TensorType type = graph_[id].outputs[output];
    const AxisPlacements& placed = out_.nodes.at(id).results[output];
    for (std::size_t a = 0; a < axis_; ++a)
      if (placed[a].is_shard()) {
        std::int64_t& length = type.shape[static_cast<std::size_t>(placed[a].dim)];
        length = (length + sizes_[a] - 1) / sizes_[a];
      }
    return type;
  }

  void place_input(NodeId id) {
    const auto given = inputs_.find(id);
    const Placement at = given == inputs_.end() ? Placement() : given->second[axis_];
    out_.nodes.at(id).results.front()[axis_] = at;
    held_[{id, 0}] = {at};
  }

  // Earlier axes may have given the same factor away, or hold a Partial of another kind.
  bool fits_earlier(NodeId id, const ShardingRule& rule, const Strategy& strategy) const {
    const NodePlacements& placed = out_.nodes.at(id);
    std::int64_t shards = ranks_;
    for (std::size_t a = 0; a < axis_; ++a)
      if (strategy.factor >= 0 && placed.factors[a] == strategy.factor) shards *= sizes_[a];
    if (shards > ranks_) {
      const Factor& factor = rule.factors[static_cast<std::size_t>(strategy.factor)];
      if (factor.size % shards != 0 || factor.size / shards < factor.least_shard) return false;
    }
    return kinds_agree(placed.operands, strategy.operands) &&
           kinds_agree(placed.results, strategy.results);
  }

  bool kinds_agree(const std::vector<AxisPlacements>& earlier,
                   const std::vector<Placement>& now) const {
    for (std::size_t t = 0; t < now.size(); ++t)
      for (std::size_t a = 0; a < axis_; ++a)
        if (now[t].is_partial() && earlier[t][a].is_partial() &&
            earlier[t][a].reduction != now[t].reduction)
          return false;
    return true;
  }

  // The least bytes from a placement that the value has, and which that is.
  std::pair<std::int64_t, Placement> cheapest(ValueKey value, Placement to) const {
    const std::vector<Placement>& held = held_.at(value);
    const TensorType type = shared_type(value.first, value.second);
    std::pair<std::int64_t, Placement> best{0, held.front()};
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] == to) return {0, to};
      const std::int64_t bytes = redistribution_bytes(type, held[i], to, ranks_);
      if (i == 0 || bytes < best.first) best = {bytes, held[i]};
    }
    return best;
  }

  bool has_placement(ValueKey value, Placement at) const {
    const std::vector<Placement>& held = held_.at(value);
    return std::find(held.begin(), held.end(), at) != held.end();
  }

  // A sum that passes through has to be reduced later, and a shard that no operand has must be
  // gathered. Both count here: put off, they cost no less.
  StrategyCost cost(NodeId id, const std::vector<ValueKey>& values,
                    const Strategy& strategy) const {
    StrategyCost cost;
    bool has_shard = false;
    std::set<std::pair<ValueKey, std::tuple<PlacementKind, int, Reduction>>> counted;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Placement at = strategy.operands[i];
      has_shard |= at.is_shard() && has_placement(values[i], at);
      if (counted.insert({values[i], {at.kind, at.dim, at.reduction}}).second)
        cost.now += cheapest(values[i], at).first;
    }
    cost.total = cost.now;
    for (std::size_t r = 0; r < strategy.results.size(); ++r) {
      const bool passed = strategy.factor < 0 && strategy.results[r].is_partial();
      const bool later = passed || (strategy.factor >= 0 && !has_shard);
      if (later && graph_[id].outputs[r].exists())
        cost.total += redistribution_bytes(graph_[id].outputs[r], strategy.results[r],
                                           Placement::replicate(), ranks_);
    }
    return cost;
  }

  void place_call(NodeId id) {
    const std::vector<NodeId> operands = operand_nodes(graph_[id].arguments);
    std::vector<ValueKey> values;
    for (const NodeId operand : operands) values.push_back(operand_value(graph_, id, operand));
    const ShardingRule rule = sharding_rule(graph_, id);
    const std::vector<Strategy> all = strategies(rule, ranks_);
    std::size_t best = 0;
    StrategyCost least = cost(id, values, all[0]);
    for (std::size_t s = 1; s < all.size(); ++s) {
      if (!fits_earlier(id, rule, all[s])) continue;
      const StrategyCost found = cost(id, values, all[s]);
      if (!(found < least)) continue;
      best = s;
      least = found;
    }
    take(id, values, all[best]);
  }

  void take(NodeId id, const std::vector<ValueKey>& values, const Strategy& strategy) {
    NodePlacements& placed = out_.nodes.at(id);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Placement to = strategy.operands[i];
      placed.operands[i][axis_] = to;
      if (has_placement(values[i], to)) continue;
      const auto [bytes, from] = cheapest(values[i], to);
      out_.changes.push_back({values[i].first, values[i].second, axis_, from, to, bytes});
      held_[values[i]].push_back(to);
    }
    for (std::size_t r = 0; r < strategy.results.size(); ++r) {
      placed.results[r][axis_] = strategy.results[r];
      held_[{id, r}] = {strategy.results[r]};
    }
    placed.factors[axis_] = strategy.factor;
  }

  const Graph& graph_;
  const std::vector<std::int64_t>& sizes_;
  std::size_t axis_;
  std::int64_t ranks_;
  const std::map<NodeId, AxisPlacements>& inputs_;
  GraphPlacements& out_;
  std::map<ValueKey, std::vector<Placement>> held_;
};

std::optional<Diagnostic> input_problem(const Graph& graph, NodeId id, const AxisPlacements& given,
                                        const std::vector<std::int64_t>& sizes) {
  if (!graph.contains(id) || !graph.op(id).is(kInput))
    return error("placements are given for a value that is no input of the graph");
  if (given.size() != sizes.size())
    return error(fmt::format("'{}' has {} placements, the mesh has {} axes: give one an axis",
                             graph.node_name(id), given.size(), sizes.size()));
  const std::int64_t rank = graph.type(id).rank();
  for (const Placement& at : given)
    if (at.is_shard() && (at.dim < 0 || at.dim >= rank))
      return error(fmt::format("'{}' is placed as {}, but has {} dimensions: name one from 0 on",
                               graph.node_name(id), format(at), rank));
  return std::nullopt;
}

}  // namespace

ValueKey operand_value(const Graph& graph, NodeId reader, NodeId operand) {
  const Node& node = graph[reader];
  if (node.op != Op::getitem) return {operand, 0};
  return {operand, static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>())};
}

std::int64_t GraphPlacements::bytes_sent() const {
  std::int64_t bytes = 0;
  for (const PlacementChange& change : changes) bytes += change.bytes;
  return bytes;
}

Result<GraphPlacements> propagate(const Graph& graph, const std::vector<std::int64_t>& axis_sizes,
                                  const std::map<NodeId, AxisPlacements>& inputs) {
  for (const auto& [id, given] : inputs)
    if (const auto problem = input_problem(graph, id, given, axis_sizes)) return *problem;
  GraphPlacements out;
  const AxisPlacements unplaced(axis_sizes.size());
  for (const NodeId id : graph.order())
    out.nodes[id] = {
        std::vector<AxisPlacements>(operand_nodes(graph[id].arguments).size(), unplaced),
        std::vector<AxisPlacements>(graph[id].outputs.size(), unplaced),
        std::vector<int>(axis_sizes.size(), -1)};
  for (std::size_t axis = 0; axis < axis_sizes.size(); ++axis)
    AxisChoice(graph, axis_sizes, axis, inputs, out).run();
  return out;
}

}  // namespace recut::mesh

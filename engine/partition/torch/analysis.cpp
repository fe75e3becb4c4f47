#include "engine/partition/torch/analysis.h"

#include <algorithm>
#include <cmath>

namespace recut::torch {
namespace {

constexpr double kDistanceFactor =
    1.1;  // growth of the weight for each edge of distance from backward
constexpr std::int64_t kMaxDistance = 100;

}  // namespace

Analysis::Analysis(const Graph& graph, const TorchOptions& options)
    : Analysis(graph, options, Users(graph)) {}

Analysis::Analysis(const Graph& graph, const TorchOptions& options, const Users& users)
    : graph_(graph),
      options_(options),
      table_(traits_by_operator(options)),
      storages_(graph, StorageModel::Sizes::values),
      classes_(graph, users) {
  first_user_.push_back(0);
  for (const NodeId id : graph.order()) {
    for (const NodeId user : users.of(id))
      users_.push_back(static_cast<Position>(graph.position(user)));
    first_user_.push_back(static_cast<std::uint32_t>(users_.size()));
    traits_.push_back(&table_[graph[id].op]);
    kinds_.push_back(graph.op(id).is(kInput) ? Kind::input : Kind::call);
    bytes_.push_back(value_bytes(graph[id]));
  }
  find_materialized();
  find_reductions();
  find_used_far_apart();
  find_node_weights();
}

bool Analysis::is_primal(Position p) const {
  const NodeId id = node(p);
  return graph_[id].op == Op::placeholder && graph_.input_kind(id) != InputKind::tangent;
}

void Analysis::find_materialized() {
  materialized_.resize(size());
  materialized_in_backward_.resize(size());
  for (Position p = 0; p < size(); ++p) {
    const std::span<const Position> all = users(p);
    materialized_[p] =
        graph_[node(p)].op == Op::placeholder || classes_.returned[p] ||
        std::any_of(all.begin(), all.end(), [&](Position user) { return !fusible(p, user); });
    materialized_in_backward_[p] = !traits(p).view && walk_views_to_backward(p);
  }
}

// Each view has one non-view producer, so all walks together visit each view once.
bool Analysis::walk_views_to_backward(Position from) const {
  std::vector<Position> stack{from};
  while (!stack.empty()) {
    const Position p = stack.back();
    stack.pop_back();
    if (classes_.returned[p]) return true;
    for (const Position user : users(p)) {
      if (!classes_.forward[user] && !fusible(p, user)) return true;
      if (traits(user).view) stack.push_back(user);
    }
  }
  return false;
}

void Analysis::find_reductions() {
  reduces_.resize(size());
  for (Position p = 0; p < size(); ++p) {
    const Node& call = graph_[node(p)];
    const std::vector<Parameter>& parameters = graph_.op(node(p)).parameters;
    std::int64_t read = 0;  // PyTorch counts a repeated argument twice, and lists not at all
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      if (const auto* id = call.arguments[i].get<NodeId>(); id && !parameters[i].keyword_only)
        read += bytes_[graph_.position(*id)];
    reduces_[p] = 4 * bytes_[p] < read;
  }
}

// PyTorch walks forward from the users of each node to the first one that is reached across an edge
// that can't be fused, which is quadratic. That node depends on the starting point alone, so one
// reverse sweep finds it for all of them.
void Analysis::find_used_far_apart() {
  constexpr std::uint32_t kNone = JointClasses::kNoOrder;
  const std::vector<std::uint32_t>& order = classes_.forward_order;
  std::vector<std::uint32_t> first_unfusible(size(), kNone);
  for (Position p = static_cast<Position>(size()); p-- > 0;)
    for (const Position user : users(p))
      if (order[user] != kNone)
        first_unfusible[p] =
            std::min(first_unfusible[p], fusible(p, user) ? first_unfusible[user] : order[user]);

  used_far_apart_.resize(size());
  for (Position p = 0; p < size(); ++p) {
    if (!classes_.forward[p]) continue;
    std::uint32_t last = 0, limit = kNone;
    for (const Position user : users(p)) {
      if (order[user] == kNone) continue;
      last = std::max(last, order[user]);
      limit = std::min(limit, first_unfusible[user]);
    }
    limit = std::min(limit, last);
    for (const Position user : users(p))
      if (order[user] != kNone && order[user] > limit && fusible(p, user))
        used_far_apart_[user] = true;
  }
}

// Parameters are in memory anyway, and so are all inputs that live as long as the model.
bool Analysis::free_to_save(NodeId id) const {
  if (graph_[id].op != Op::placeholder) return false;
  const std::vector<std::string>& names = options_.static_inputs;
  return graph_.input_kind(id) == InputKind::parameter ||
         std::find(names.begin(), names.end(), graph_.node_name(id)) != names.end();
}

void Analysis::find_node_weights() {
  std::vector<double> factors;
  for (std::int64_t distance = 0; distance <= kMaxDistance; ++distance)
    factors.push_back(std::pow(kDistanceFactor, static_cast<double>(distance)));
  for (Position p = 0; p < size(); ++p) {
    const std::int64_t distance = std::clamp<std::int64_t>(classes_.distance[p], 1, kMaxDistance);
    const double far = factors[static_cast<std::size_t>(distance)];
    const double weight = std::floor(static_cast<double>(bytes_[p]) * far);
    node_weights_.push_back(free_to_save(node(p)) ? 0 : materialized_[p] ? weight : 2 * weight);
  }
}

}  // namespace recut::torch

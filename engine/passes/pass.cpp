#include "engine/passes/pass.h"

#include <algorithm>

namespace recut {

std::vector<std::pair<std::string_view, int>> rule_hits(std::span<const Change> changes) {
  std::vector<std::pair<std::string_view, int>> hits;
  for (const Change& change : changes) {
    const auto it = std::find_if(hits.begin(), hits.end(),
                                 [&](const auto& hit) { return hit.first == change.rule; });
    if (it == hits.end())
      hits.emplace_back(change.rule, 1);
    else
      ++it->second;
  }
  return hits;
}

bool same_graph(const Graph& a, const Graph& b) {
  const auto same_list = [](auto x, auto y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  if (a.shared_pool() != b.shared_pool() || !same_list(a.order(), b.order()) ||
      !same_list(a.aliases(), b.aliases()) || a.results != b.results || a.gradients != b.gradients)
    return false;
  for (const NodeId id : a.order()) {
    // Graphs of one pool mostly share their origins, too.
    if (&a.origin(id) != &b.origin(id) && a.node_name(id) != b.node_name(id)) return false;
    if (a[id].op == Op::placeholder && a.input_kind(id) != b.input_kind(id)) return false;
  }
  return true;
}

}  // namespace recut

#include "engine/passes/same_graph.h"

#include <algorithm>

namespace recut {

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

#include "engine/rewrite/storage.h"

#include <algorithm>
#include <string_view>

#include "engine/ir/rebuild.h"

namespace recut {
namespace {

bool is_view(const Graph& graph, NodeId id) { return graph.op(id).is(kView); }

bool reads_layout(const Graph& graph, NodeId id) {
  const std::string_view packet = graph.op(id).packet;
  return packet == "as_strided" || packet == "as_strided_scatter";
}

bool comes_in(const Graph& graph, NodeId id) { return graph.op(id).is(kInput); }

}  // namespace

NodeId storage_root(const Graph& graph, NodeId id) {
  while (is_view(graph, id)) {
    const NodeId of = graph[id].operands.front();
    if (graph[id].op == Op::getitem && !is_view(graph, of)) break;
    id = of;
  }
  return id;
}

PinnedStorages::PinnedStorages(const Graph& graph) : graph_(&graph) {
  const auto order = graph.order();
  const auto reads = [&](NodeId id) { return reads_layout(graph, id); };
  // Hardly any graph has one, and then there is no need to find out what is dead.
  if (std::none_of(order.begin(), order.end(), reads)) return;
  const Graph live = without_dead_nodes(graph);
  for (const NodeId id : live.order())
    if (reads(id)) roots_.insert(storage_root(graph, graph[id].operands.front()));
}

OutputStorages::OutputStorages(const Graph& from) : from_(&from) {
  const auto add = [&](NodeId id) {
    if (!id.valid()) return;
    outputs_.insert(id);
    output_roots_.insert(storage_root(from, id));
  };
  for (const NodeId id : from.results) add(id);
  for (const NodeId id : from.gradients) add(id);
  for (const NodeId id : from.order())
    if (comes_in(from, id)) placed(id, from, id);
}

// A view has a storage in common with its successor anyway: only the two as outputs, or as output
// and argument, must not become one value. Whatever owns its bytes may not give them up for those
// that another output or an argument stands on.
bool OutputStorages::may_become(NodeId old, const Graph& to, NodeId successor) const {
  if (is_view(*from_, old))
    return outputs_.count(old) == 0 || (!comes_in(to, successor) && taken_.count(successor) == 0);
  if (output_roots_.count(old) == 0) return true;
  const NodeId root = storage_root(to, successor);
  return !comes_in(to, root) && taken_roots_.count(root) == 0;
}

void OutputStorages::placed(NodeId old, const Graph& to, NodeId successor) {
  if (outputs_.count(old) != 0) taken_.insert(successor);
  if (output_roots_.count(storage_root(*from_, old)) != 0)
    taken_roots_.insert(storage_root(to, successor));
}

}  // namespace recut

#include "engine/ir/aliases.h"

#include <algorithm>

#include "engine/ir/data_flow.h"

namespace recut {
namespace {

bool is_view(const Graph& graph, NodeId id) { return graph.op(id).is(kView); }

bool reads_layout(const Graph& graph, NodeId id) { return graph.op(id).is(kReadsStorage); }

bool is_input_node(const Graph& graph, NodeId id) { return graph.op(id).is(kInput); }

}  // namespace

NodeId defining_node(const Graph& graph, NodeId id) {
  while (is_view(graph, id) && !graph[id].operands.empty()) id = graph[id].operands.front();
  return id;
}

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
  // Hardly any graph has such a call; liveness is then not needed.
  if (std::none_of(order.begin(), order.end(), reads)) return;
  const std::vector<bool> live = live_nodes(graph);
  for (const NodeId id : order)
    if (live[graph.position(id)] && reads(id))
      roots_.insert(storage_root(graph, graph[id].operands.front()));
}

OutputStorages::OutputStorages(const Graph& from) : from_(&from), roots_(from.order().size()) {
  for (const NodeId id : from.order()) {
    NodeId& root = roots_[from.position(id)];
    root = id;
    if (!is_view(from, id)) continue;
    const NodeId of = from[id].operands.front();
    if (from[id].op != Op::getitem || is_view(from, of)) root = roots_[from.position(of)];
  }
  for (const auto* list : {&from.results, &from.gradients})
    for (const NodeId id : *list) {
      if (!id.valid()) continue;
      marks(outputs_, id) |= kOutput;
      marks(outputs_, roots_[from.position(id)]) |= kOutputStorage;
    }
  for (const NodeId id : from.order())
    if (is_input_node(from, id)) record(id, from, id);
}

std::uint8_t& OutputStorages::marks(std::vector<std::uint8_t>& list, NodeId id) {
  if (list.size() <= id.index) list.resize(id.index + 1);
  return list[id.index];
}

bool OutputStorages::has(const std::vector<std::uint8_t>& list, NodeId id, Mark mark) {
  return id.index < list.size() && (list[id.index] & mark) != 0;
}

// A view shares a storage with its successor anyway: it is enough that no two outputs, and no
// output and argument, become one value. A value that owns its storage must not exchange it for the
// storage of an argument or of another output.
bool OutputStorages::may_become(NodeId old, const Graph& to, NodeId successor) const {
  if (is_view(*from_, old))
    return !has(outputs_, old, kOutput) ||
           (!is_input_node(to, successor) && !has(taken_, successor, kOutput));
  if (!has(outputs_, old, kOutputStorage)) return true;
  const NodeId root = storage_root(to, successor);
  return !is_input_node(to, root) && !has(taken_, root, kOutputStorage);
}

void OutputStorages::record(NodeId old, const Graph& to, NodeId successor) {
  if (has(outputs_, old, kOutput)) marks(taken_, successor) |= kOutput;
  if (has(outputs_, roots_[from_->position(old)], kOutputStorage))
    marks(taken_, storage_root(to, successor)) |= kOutputStorage;
}

}  // namespace recut

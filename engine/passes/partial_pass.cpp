// Applies the first changes of a pass without the later ones (for bisect.h).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/rebuild.h"
#include "engine/ir/verifier.h"
#include "engine/passes/bisect.h"

namespace recut {
namespace {

class PartialPass {
 public:
  PartialPass(const Graph& from, const PassReport& pass, std::size_t count) : pass_(pass) {
    for (std::size_t i = 0; i < count; ++i) {
      const Change& change = pass.changes[i];
      if (change.after.empty())
        removed_.insert(change.before);
      else
        successors_.emplace(change.before, change.after.front());
    }
    possible_ = from.shared_pool() == pass.graph.shared_pool();
  }

  std::optional<Graph> of(const Graph& from) {
    if (!possible_) return std::nullopt;
    Graph to = rebuild(from, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
      const auto it = successors_.find(old);
      // An operand of another type might not fit users that are as they were.
      const bool changes = it != successors_.end() && possible_;
      if (changes && graph[it->second].outputs != from[old].outputs) possible_ = false;
      if (changes && possible_) bring(graph, it->second);
      if (changes && possible_) return it->second;
      return keep_node(from, graph, old, arguments);
    });
    if (!possible_) return std::nullopt;
    to = without_removed(to);
    if (!verify(to).empty()) return std::nullopt;
    return to;
  }

 private:
  // Appends a node of the pass's graph with its operands. Inputs exist from the start: a change
  // that needs a new one cannot be applied alone.
  void bring(Graph& to, NodeId root) {
    std::vector<NodeId> open{root};
    while (!open.empty() && possible_) {
      const NodeId id = open.back();
      std::vector<NodeId> missing;
      for (const NodeId operand : to[id].operands)
        if (!to.contains(operand)) missing.push_back(operand);
      open.insert(open.end(), missing.begin(), missing.end());
      if (!missing.empty()) continue;
      open.pop_back();
      if (to.contains(id)) continue;
      possible_ = pass_.graph.contains(id) && !pass_.graph.op(id).is(kInput);
      if (possible_) {
        Origin origin = pass_.graph.origin(id);
        if (to.find(origin.name).valid()) origin.name = to.unused_name(origin.name);
        to.append(to[id].op, to[id].arguments, to[id].outputs, std::move(origin));
      }
    }
  }

  // Removes the nodes that the pass removed, unless a remaining node needs them.
  Graph without_removed(const Graph& graph) {
    if (removed_.empty()) return graph;
    const Users users(graph);
    std::vector<bool> keep(graph.order().size(), false);
    const auto kept = [&](NodeId id) { return keep[graph.position(id)]; };
    for (const auto* outputs : {&graph.results, &graph.gradients})
      for (const NodeId id : *outputs)
        if (id.valid()) keep[graph.position(id)] = true;
    const auto order = graph.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const auto of = users.of(*it);
      if (removed_.count(*it) == 0 || std::any_of(of.begin(), of.end(), kept))
        keep[graph.position(*it)] = true;
    }
    return with_nodes(graph, keep);
  }

  const PassReport& pass_;
  std::unordered_map<NodeId, NodeId> successors_;  // looked up only, never walked
  std::unordered_set<NodeId> removed_;
  bool possible_ = true;
};

}  // namespace

std::optional<Graph> with_changes(const Graph& from, const PassReport& pass, std::size_t count) {
  if (count == 0) return from;
  return PartialPass(from, pass, count).of(from);
}

}  // namespace recut

// A pass done in part: its first changes, without those that come after.
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
    Graph to = rebuild(from, [&](Graph& graph, NodeId old, std::vector<Argument> arguments) {
      const auto it = successors_.find(old);
      // An operand of another type might not fit users that are as they were.
      const bool changes = it != successors_.end() && possible_;
      if (changes && graph[it->second].outputs != from[old].outputs) possible_ = false;
      if (changes && possible_) bring(graph, it->second);
      if (changes && possible_) return it->second;
      return keep_node(from, graph, old, std::move(arguments));
    });
    if (!possible_) return std::nullopt;
    to = without_removed(to);
    if (!verify(to).empty()) return std::nullopt;
    return to;
  }

 private:
  // Appends a node of the pass's graph and whatever stands under it. Placeholders are there from
  // the beginning: a change that brings one in is none that can be made alone.
  void bring(Graph& to, NodeId wanted) {
    std::vector<NodeId> open{wanted};
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

  // Without what the pass removed, as far as nothing that is still there needs it.
  Graph without_removed(const Graph& graph) {
    if (removed_.empty()) return graph;
    const Users users(graph);
    std::unordered_set<NodeId> kept;
    for (const auto* outputs : {&graph.results, &graph.gradients})
      kept.insert(outputs->begin(), outputs->end());
    std::unordered_set<NodeId> gone;
    const auto order = graph.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      bool needed = removed_.count(*it) == 0 || kept.count(*it) != 0;
      for (const NodeId user : users.of(*it)) needed = needed || gone.count(user) == 0;
      if (!needed) gone.insert(*it);
    }
    return copy_without(graph, gone);
  }

  static Graph copy_without(const Graph& graph, const std::unordered_set<NodeId>& gone) {
    Graph to = graph.fresh();
    for (const NodeId id : graph.order()) {
      if (gone.count(id) != 0) continue;
      if (graph[id].op == Op::placeholder)
        to.add_input(graph.input_kind(id), graph.type(id), graph.origin(id));
      else
        to.append(graph[id].op, graph[id].arguments, graph[id].outputs, graph.origin(id));
    }
    for (const auto& [name, id] : graph.aliases())
      if (to.contains(id)) to.add_alias(name, id);
    to.results = graph.results;
    to.gradients = graph.gradients;
    return to;
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

#include "gui/model/graph_match.h"

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "gui/model/node_trace.h"

namespace recut::gui {
namespace {

class Matcher {
 public:
  Matcher(const Graph& here, const Graph& there) : here_(here), there_(there) {
    match_.here = empty(here);
    match_.there = empty(there);
  }

  // Makes the two twins, unless one of them has a twin already.
  void pair(NodeId here, NodeId there) {
    if (!is_free(here_, match_.here, here) || !is_free(there_, match_.there, there)) return;
    set(here_, match_.here, here, there);
    set(there_, match_.there, there, here);
  }

  // Nodes without a twin that have equal keys, in the order of the graphs; "" is no key.
  void pair_by(const std::function<std::string(const Graph&, NodeId)>& key) {
    std::unordered_map<std::string, std::deque<NodeId>> waiting;  // asked only, never walked
    for (const NodeId id : there_.order())
      if (is_free(there_, match_.there, id))
        if (std::string its = key(there_, id); !its.empty()) waiting[its].push_back(id);
    for (const NodeId id : here_.order()) {
      if (!is_free(here_, match_.here, id)) continue;
      const auto found = waiting.find(key(here_, id));
      if (found == waiting.end() || found->second.empty()) continue;
      pair(id, found->second.front());
      found->second.pop_front();
    }
  }

  // A node without a twin may still have a partner that stands for it.
  static void stand_in(MatchSide& side, const std::vector<NodeId>& others) {
    for (std::size_t i = 0; i < others.size(); ++i)
      if (!side.twin[i]) side.partner[i] = others[i];
  }

  GraphMatch& match() { return match_; }

 private:
  static MatchSide empty(const Graph& graph) {
    const std::size_t nodes = graph.order().size();
    return {std::vector<NodeId>(nodes), std::vector<bool>(nodes, false)};
  }
  static bool is_free(const Graph& graph, const MatchSide& side, NodeId id) {
    return id.valid() && graph.contains(id) && !side.twin[graph.position(id)];
  }
  static void set(const Graph& graph, MatchSide& side, NodeId id, NodeId partner) {
    side.partner[graph.position(id)] = partner;
    side.twin[graph.position(id)] = true;
  }

  const Graph &here_, &there_;
  GraphMatch match_;
};

// A key of two texts, joined by a line break, which names and modules don't have.
std::string joined(std::string_view a, std::string_view b) {
  return std::string(a) + '\n' + std::string(b);
}

}  // namespace

GraphMatch match_same(const Graph& graph) {
  const auto order = graph.order();
  const MatchSide side{{order.begin(), order.end()}, std::vector<bool>(order.size(), true)};
  return {side, side};
}

GraphMatch match_passes(const PipelineReport& passes, std::size_t here, std::size_t there) {
  if (here > there) {  // in the order of the passes, so that both ways are one match
    GraphMatch match = match_passes(passes, there, here);
    std::swap(match.here, match.there);
    return match;
  }
  const Graph &mine = graph_after(passes, here), &other = graph_after(passes, there);
  Matcher matcher(mine, other);
  for (const NodeId id : mine.order()) matcher.pair(id, id);
  const std::vector<NodeId> on = trace_nodes(passes, here, there);
  const std::vector<NodeId> back = trace_nodes(passes, there, here);
  for (std::size_t i = 0; i < on.size(); ++i) matcher.pair(mine.order()[i], on[i]);
  for (std::size_t i = 0; i < back.size(); ++i) matcher.pair(back[i], other.order()[i]);
  Matcher::stand_in(matcher.match().here, on);
  Matcher::stand_in(matcher.match().there, back);
  return std::move(matcher.match());
}

GraphMatch match_documents(const Graph& here, const Graph& there) {
  Matcher matcher(here, there);
  matcher.pair_by([](const Graph& graph, NodeId id) {
    return joined(graph.node_name(id), graph.origin(id).module);
  });
  matcher.pair_by([](const Graph& graph, NodeId id) {
    const std::string& module = graph.origin(id).module;
    return module.empty() ? std::string() : joined(graph.op(id).name, module);
  });
  matcher.pair_by(
      [](const Graph& graph, NodeId id) { return joined(graph.op(id).name, graph.node_name(id)); });
  return std::move(matcher.match());
}

}  // namespace recut::gui

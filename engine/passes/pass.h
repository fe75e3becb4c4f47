// A pass: a named function from a graph to a graph, with a log of its changes.
//
// Every pass preserves the inputs, the shape and dtype of every result and gradient, and their
// values; an exact pass is bit-exact. Operators are pure, so that values are the whole meaning of a
// graph. A pass is deterministic, and a second run changes nothing. A pass sees one graph: the runner
// runs it on nested graphs, too (region_passes.h). pass_table.h lists all passes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/rewrite/change_description.h"
#include "engine/rewrite/rewriter.h"

namespace recut {

// One change: the node `before` of the input graph became the nodes `after` of the output graph.
// The two graphs share a pool, so that ids mean the same in both.
struct Change {
  std::string_view rule;          // the pass's name for it: "add of zero"
  NodeId before;                  //
  std::vector<NodeId> after;      // empty if it was removed without a replacement
  ChangeDescription description;  // "%y = add.Scalar(%x, -0.0) : f32[4]  =>  %x"
};

// The rules and statistics of a pass that is made of rules.
struct RuleReport {
  std::shared_ptr<const RuleSet> rules;    // null for other passes; owns the names of changes
  std::vector<RuleStatistics> statistics;  // one a row
  bool converged = true;                   // see Rewritten
};

struct PassResult {
  Graph graph;
  bool changed = false;  // verified by the runner (same_graph)
  std::vector<Change> changes;
  RuleReport rules = {};
};

struct Pass {
  std::string_view name;
  std::string_view description;
  std::function<PassResult(const Graph& graph)> run;
  bool by_default = true;   // false: opt-in, unless a stage's table says otherwise
  bool exact = by_default;  // true: bit-exact
};

// The number of changes by each rule, in order of first appearance.
std::vector<std::pair<std::string_view, int>> rule_hits(std::span<const Change> changes);

// Tells whether two graphs on one pool are equal: nodes in order, their names, inputs and outputs.
// O(nodes), since equal nodes of a pool have one id.
bool same_graph(const Graph& a, const Graph& b);

}  // namespace recut

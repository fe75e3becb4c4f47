// A pass: a named function from a graph to a graph, with a log of what it did.
//
// Every pass keeps the meaning of the graph (operators are pure, so that is a matter of values
// alone), bit by bit if it is exact, the shape and dtype of every result and gradient, and what
// comes in. It is deterministic, and a second run changes nothing. Those
// that there are stand in pass_table.h.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/rewrite/change_words.h"
#include "engine/rewrite/rewriter.h"

namespace recut {

// One thing that a pass did: `before`, of the graph that came in, is `after` in the graph that went
// out. The two graphs share a pool, so that ids mean the same in both.
struct Change {
  std::string_view rule;      // what the pass calls it: "add of zero"
  NodeId before;              //
  std::vector<NodeId> after;  // empty: it is gone and nothing stands for it
  ChangeWords words;          // "%y = add.Scalar(%x, -0.0) : f32[4]  =>  %x"
};

// What the rules of a pass did, where it is made of rules.
struct RuleReport {
  std::shared_ptr<const RuleSet> rules;    // null: it isn't. Names of changes are the rules' own
  std::vector<RuleStatistics> statistics;  // one a row
  bool at_rest = true;                     // see Rewritten
};

struct PassResult {
  Graph graph;
  bool changed = false;  // the runner holds the pass to this: see same_graph
  std::vector<Change> changes;
  RuleReport rules = {};
};

struct Pass {
  std::string_view name;
  std::string_view prose;
  std::function<PassResult(const Graph& graph)> run;
  bool by_default = true;   // false: it runs only where it is named; a stage may say otherwise
  bool exact = by_default;  // false: it does not keep every bit
};

// How often each rule did something, in order of first appearance.
std::vector<std::pair<std::string_view, int>> rule_hits(std::span<const Change> changes);

}  // namespace recut

// Applies rules to a graph until none of them matches any more.
//
// A sweep looks at every live node in program order and, for each, at the rules whose anchor is
// that operator, in the order of their set: the first that matches is taken. All of a sweep's
// matches are of the graph as it stood before; no two of them overlap. A result keeps its name, and
// what is replaced but still used by others stays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/rewrite/change_words.h"
#include "engine/rewrite/rule.h"

namespace recut {

// One match: `before`, of the graph that came in, is the first of its results; `after` is what
// stands for all of them in the graph that went out.
struct RuleHit {
  std::string_view rule;  // of the RuleSet
  NodeId before;
  std::vector<NodeId> after;
  ChangeWords words;  // "%y = …; %z = …  =>  %a = …; %b"
};

struct RuleStatistics {
  std::string_view rule;
  std::int64_t tries = 0;  // nodes that might have been the anchor of a match
  std::int64_t hits = 0;
  double milliseconds = 0;  // of tries
  // Matches that were given up because the replacement did not type: a fault of the rule.
  std::int64_t untyped = 0;
  std::string untyped_words;  // why, the first time
};

struct Rewritten {
  Graph graph;
  bool changed = false;
  std::vector<RuleHit> hits;
  std::vector<RuleStatistics> statistics;  // one a row of the set
  bool at_rest = true;  // false: rules kept on matching what others made, and were stopped
};

inline constexpr int kMostSweeps = 64;

Rewritten apply_rules(const Graph& graph, const RuleSet& rules);

}  // namespace recut

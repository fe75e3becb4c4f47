// Applies rules to a graph until none of them matches any more.
//
// A sweep visits the live nodes in program order and tries the rules whose anchor is that operator,
// in the order of their set; it takes the first match. All matches of a sweep are in the graph
// before the sweep, and no two overlap. A result keeps its name. A replaced call with other users
// stays for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/rewrite/change_description.h"
#include "engine/rewrite/rule.h"

namespace recut {

// One match: `before` is the first of its results in the input graph; `after` are their
// replacements in the output graph.
struct RuleHit {
  std::string_view rule;  // of the RuleSet
  NodeId before;
  std::vector<NodeId> after;
  ChangeDescription description;  // "%y = …; %z = …  =>  %a = …; %b"
};

struct RuleStatistics {
  std::string_view rule;
  std::int64_t tries = 0;  // nodes tried as the anchor of a match
  std::int64_t hits = 0;
  double milliseconds = 0;  // of tries
  // Matches given up because the replacement's types did not fit: a fault of the rule.
  std::int64_t untyped = 0;
  std::string untyped_reason;  // the reason of the first
};

struct Rewritten {
  Graph graph;
  bool changed = false;
  std::vector<RuleHit> hits;
  std::vector<RuleStatistics> statistics;  // one a row of the set
  bool converged = true;  // false: rules kept matching the results of others and were stopped
};

inline constexpr int kMaxRuleSweeps = 64;

Rewritten apply_rules(const Graph& graph, const RuleSet& rules);

}  // namespace recut

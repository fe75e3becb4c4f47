// Two graphs under two plans, compared node by node: the differences that the panes of the graph
// panel mark and step through.
#pragma once

#include "gui/model/document_view.h"
#include "gui/model/graph_match.h"
#include "gui/model/plan_difference.h"

namespace recut::gui {

enum class Difference : std::uint8_t {
  none,
  only,       // the other graph has no such node
  rewritten,  // the other graph has it with another operator, or, after a pass, another line
  fate        // the plans treat its value differently; only of nodes that own bytes
};

// The facts about one of the two sides, by position in its graph's order.
struct ComparedSide {
  ShownGraph shown;
  MatchSide match;
  std::vector<Difference> difference;
  std::vector<std::optional<Role>> other_role;  // the partner's in its own plan, where it differs

  // The node that stands for this one on the other side; invalid if none does.
  NodeId partner(NodeId node) const;
  Difference of(NodeId node) const;
};

struct ComparisonStep {
  NodeId here, there;  // one of them invalid where the node has no twin
  Difference kind = Difference::none;
  // If the fates differ:
  Role role_here = Role::freed, role_there = Role::freed;
  std::int32_t runs_here = 0, runs_there = 0;  // beyond the first
  std::int64_t bytes = 0;
};

struct DifferenceCounts {
  std::size_t only_here = 0, only_there = 0, rewritten = 0, fate = 0;
};

struct Comparison {
  ComparedSide here, there;
  // In program order of the graph here; a node that is only there stands behind its predecessor
  // there.
  std::vector<ComparisonStep> steps;
  DifferenceCounts counts;
};
using SharedComparison = std::shared_ptr<const Comparison>;

// Linear in both graphs. A plan may be missing: then no fates are compared.
SharedComparison make_comparison(const ShownGraph& here, const ShownGraph& there);

}  // namespace recut::gui

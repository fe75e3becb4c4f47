// The differences between two plans: of one graph, or of two graphs that have nodes in common.
#pragma once

#include <string>
#include <vector>

#include "gui/model/graph_match.h"
#include "gui/model/plan_view.h"

namespace recut::gui {

// A value that owns bytes in one of the plans, and its fate in each.
struct FateRow {
  NodeId here, there;  // in the graph of either plan
  Role role_here = Role::freed, role_there = Role::freed;
  std::int32_t runs_here = 0, runs_there = 0;  // beyond the first
  std::int64_t bytes = 0;                      // the larger of the two
};

// The bytes that each node's storages take, by position; 0 for views and calls that never run.
std::vector<std::int64_t> owned_bytes(const PlanView& plan);

struct PlanDifference {
  std::vector<FateRow> rows;                   // by falling bytes, then in the order of the graph
  std::int64_t same = 0;                       // values with one fate in both
  std::int64_t only_here = 0, only_there = 0;  // values that the other graph hasn't got
  SavedStorages saved_here,
      saved_there;  // storages that are saved in one of the two and not in the other
};
// `match`: of the graphs of the two plans; its twins are compared.
PlanDifference difference_of(const PlanView& here, const PlanView& there, const GraphMatch& match);

// The number of calls of an operator in two graphs.
struct OperatorCount {
  std::string name;
  std::int64_t here = 0, there = 0;
};
// Operators whose numbers differ, by falling difference, then by name.
std::vector<OperatorCount> operator_counts(const Graph& here, const Graph& there);

}  // namespace recut::gui

// Plans node-link graphs (engine/partition/problem/moccasin.h): no tensors, no boundary, any order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/partition/strategy.h"
#include "engine/support/result.h"

namespace recut {

struct NodeLinkReport {
  std::string name;
  std::string budget;             // as the user wrote it
  std::int64_t budget_bytes = 0;  // 0: none
  std::int64_t nodes = 0;
  std::int64_t runs = 0;

  std::int64_t start_peak = 0;  // of the file's own order
  std::int64_t peak = 0;
  std::int64_t duration = 0;        // in the file's unit
  std::int64_t overhead = 0;        // of it, the part beyond running every node once
  std::int64_t peak_bound = 0;      // proved: no order peaks below it
  std::int64_t overhead_bound = 0;  // proved: no order within the budget takes less
  bool holds = true;                // false: this is the order of the lowest peak
  bool optimal = false;             // one of the bounds is reached
  bool short_search = false;        // a quick search: the budget is proved infeasible
  double solve_ms = 0;

  double increase_percent() const;  // of the duration
};

struct NodeLinkPlan {
  NodeLinkReport report;
  std::vector<std::string> order;  // ids, repeats allowed
  std::vector<bool> numeric;       // by step: the file writes that id as a number
};

// `budget` as budget.h reads it, in percent of the start peak. Fails on a file that is no node-link
// graph, and on an invalid budget.
Result<NodeLinkPlan> plan_node_link(std::string_view bytes, std::string_view file_name,
                                    std::string_view budget, const SearchLimits& limits);

// {"order": [ids], "peak": n, "duration": n}: ids as the file writes them.
std::string node_link_plan_json(const NodeLinkPlan& plan);

std::string node_link_report_json(const NodeLinkReport& report);
std::string node_link_text(const NodeLinkReport& report);
std::string node_link_infeasible_text(const NodeLinkReport& report);

}  // namespace recut

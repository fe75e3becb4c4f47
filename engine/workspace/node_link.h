// Plans node-link graphs (engine/partition/problem/moccasin.h): no tensors, no border, any order.
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
  std::string budget;             // as it was asked for
  std::int64_t budget_bytes = 0;  // 0: none was named
  std::int64_t nodes = 0;
  std::int64_t runs = 0;

  std::int64_t start_peak = 0;  // of the file's own order
  std::int64_t peak = 0;
  std::int64_t duration = 0;     // in the file's unit
  std::int64_t extra = 0;        // of it, beyond running every node once
  std::int64_t peak_bound = 0;   // proved: no order peaks below it
  std::int64_t extra_bound = 0;  // proved: no order within the budget takes less
  bool holds = true;             // false: this is the order that peaks lowest
  bool optimal = false;          // one of the bounds is reached
  bool short_search = false;     // it was a short one: proved that the budget can't be held
  double solve_ms = 0;

  double increase_percent() const;  // of the duration
};

struct NodeLinkPlan {
  NodeLinkReport report;
  std::vector<std::string> order;  // ids, repeats allowed
  std::vector<bool> numeric;       // by step: the file writes that id as a number
};

// `budget` as budget.h reads it: percent of the start peak. Fails where the file isn't such a graph
// or the budget none.
Result<NodeLinkPlan> plan_node_link(std::string_view bytes, std::string_view file_name,
                                    std::string_view budget, const SearchLimits& limits);

// {"order": [ids], "peak": n, "duration": n}: ids as the file writes them.
std::string node_link_plan_json(const NodeLinkPlan& plan);

std::string node_link_report_json(const NodeLinkReport& report);
std::string node_link_text(const NodeLinkReport& report);
std::string node_link_out_of_reach_text(const NodeLinkReport& report);

}  // namespace recut

#include "engine/workspace/node_link.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/moccasin.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/json_text.h"

// A node-link graph already is the solver's problem: nodes with times and bytes, and their reads.
// So no tensor, cost model or forward/backward boundary takes part. The solver numbers
// computations, and add_outcome turns the numbers back into the file's ids:
//   ids "a" and 7, sequence 0, 1, 0  ⇒  {"order": ["a", 7, "a"], …}
// A budget in percent refers to the start peak, that of the file's own order (else of a topological
// one). If the solver finds no order within the budget, the plan is the order of the lowest peak.

namespace recut {
namespace {

using Json = nlohmann::ordered_json;

peak::SolveOptions options_of(const RematProblem& problem, const SearchLimits& limits) {
  peak::SolveOptions options;
  options.seed = limits.seed;
  options.effort = peak::default_effort(problem, limits.effort);
  options.relative_gap = peak::default_relative_gap(limits.effort);
  options.seconds = limits.seconds;
  options.cancel = limits.cancel;
  options.stop = limits.stop;
  return options;
}

void add_outcome(const MoccasinProblem& file, const peak::Outcome& found, NodeLinkPlan& plan) {
  NodeLinkReport& report = plan.report;
  report.runs = static_cast<std::int64_t>(found.sequence.size());
  report.peak = found.peak;
  report.duration = found.duration;
  report.overhead = found.overhead;
  report.peak_bound = found.peak_bound;
  report.overhead_bound = found.overhead_bound;
  report.holds = found.holds;
  report.optimal = found.optimal;
  report.short_search = found.short_search;
  for (const std::int32_t c : found.sequence) {
    plan.order.push_back(file.names[static_cast<std::size_t>(c)]);
    plan.numeric.push_back(file.numeric[static_cast<std::size_t>(c)]);
  }
}

std::string proved(const NodeLinkReport& r) {
  if (r.overhead == 0) return "no order takes less time";
  const auto once = static_cast<double>(r.duration - r.overhead);
  return fmt::format("no order within the budget takes less than +{:.2f} %",
                     100 * static_cast<double>(r.overhead_bound) / once);
}

double percent_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double NodeLinkReport::increase_percent() const {
  return percent_of(overhead, duration - overhead);
}

Result<NodeLinkPlan> plan_node_link(std::string_view bytes, std::string_view file_name,
                                    std::string_view budget, const SearchLimits& limits) {
  const auto file = parse_moccasin(bytes, file_name);
  if (!file) return file.diagnostics();
  const RematProblem& problem = file->problem;
  NodeLinkPlan plan;
  plan.report.name = file->name;
  plan.report.budget = std::string(budget);
  plan.report.nodes = problem.size();
  plan.report.start_peak = peak::peak_of(problem, problem.order);
  const auto parsed = parse_budget(budget, "peak", plan.report.start_peak);
  if (!parsed) return parsed.diagnostics();
  if (const auto* peak = std::get_if<PeakBytes>(&*parsed)) plan.report.budget_bytes = peak->value;

  const auto start = std::chrono::steady_clock::now();
  const peak::Outcome found = peak::solve(
      problem,
      std::holds_alternative<NoBudget>(*parsed) ? peak::kNoBudget : plan.report.budget_bytes,
      options_of(problem, limits));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  add_outcome(*file, found, plan);
  plan.report.solve_ms = taken.count();
  return plan;
}

std::string node_link_plan_json(const NodeLinkPlan& plan) {
  Json order = Json::array();
  for (std::size_t i = 0; i < plan.order.size(); ++i)
    if (plan.numeric[i])
      order.push_back(std::strtoll(plan.order[i].c_str(), nullptr, 10));
    else
      order.push_back(plan.order[i]);
  return json_text(
      Json{{"order", order}, {"peak", plan.report.peak}, {"duration", plan.report.duration}}, -1);
}

std::string node_link_report_json(const NodeLinkReport& report) {
  Json json = {{"name", report.name},
               {"nodes", report.nodes},
               {"runs", report.runs},
               {"budget", report.budget_bytes},
               {"holds", report.holds},
               {"peak", report.peak},
               {"start_peak", report.start_peak},
               {"duration", report.duration},
               {"extra", report.overhead},
               {"increase_percent", report.increase_percent()},
               {"peak_bound", report.peak_bound},
               {"extra_bound", report.overhead_bound},
               {"optimal", report.optimal},
               {"solve_ms", report.solve_ms}};
  if (!report.holds) {  // under the names that plans of joint graphs use, too
    json["least_peak_bytes"] = report.peak;
    json["peak_bound_bytes"] = report.peak_bound;
  }
  return json_text(json);
}

std::string node_link_text(const NodeLinkReport& r) {
  Table table;
  table.column("");
  table.column("", Table::Align::right);
  table.column("");
  table.row({"peak", format_count(r.peak),
             fmt::format("{:.2f} % of the start peak; no order peaks below {}",
                         percent_of(r.peak, r.start_peak), format_count(r.peak_bound))});
  table.row({"start peak", format_count(r.start_peak), "of the file's own order"});
  table.row({"duration", format_count(r.duration),
             fmt::format("+{:.3f} %: {} runs of {} nodes", r.increase_percent(),
                         format_count(r.runs), format_count(r.nodes))});
  table.row({"proved", r.optimal ? "optimal" : "", proved(r)});
  table.row({"planned in", format_micros(r.solve_ms * 1000), ""});
  return fmt::format("{} · node-link graph · budget {}\n\n{}", r.name.empty() ? "graph" : r.name,
                     r.budget, table.format());
}

std::string node_link_infeasible_text(const NodeLinkReport& r) {
  return fmt::format(
      "a peak of {} can't be held: the least that Recut can plan is {}{}", r.budget_bytes, r.peak,
      r.optimal ? ", and no order of this graph goes below that"
                : fmt::format("{}; proved: no order of this graph goes below {}",
                              r.short_search ? ", by a short search" : "", r.peak_bound));
}

}  // namespace recut

#include "engine/workspace/scheduling.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/schedule/verifier.h"

namespace recut {
namespace {

constexpr int kMostRounds = 6;
constexpr std::int64_t kClose = 100;  // 1 / this of a target

class Scheduler {
 public:
  Scheduler(const Document& document, const SchedulingRequest& request)
      : document_(document), request_(request), storages_(document.graph()) {}

  Result<ScheduledPlan> run() {
    auto plan = plan_of(request_.planning.budget);
    if (!plan) return plan.diagnostics();
    const PlanReport first = plan->report;
    if (Diagnostics faults = keep(std::move(*plan), first.budget_bytes); !faults.empty())
      return faults;
    if (Diagnostics faults = first.holds() ? lower(first) : Diagnostics(); !faults.empty())
      return faults;
    best_->rounds = rounds_;
    best_->schedule_ms = ms_;
    return std::move(*best_);
  }

 private:
  // Goes down by as much as the arena is too large until one holds, then halves the way back up.
  Diagnostics lower(const PlanReport& first) {
    std::int64_t above = first.budget_bytes, holding = 0;
    while (holding == 0 ? best_->beyond_budget() > 0 : above - holding > above / kClose) {
      const std::int64_t target = holding > 0
                                      ? holding + (above - holding) / 2
                                      : above - (rounds_.back().arena_bytes - first.budget_bytes);
      if (target <= 0 || static_cast<int>(rounds_.size()) == kMostRounds) break;
      auto plan = plan_lower(target, first);
      if (!plan) break;
      if (Diagnostics faults = keep(std::move(*plan), target); !faults.empty()) return faults;
      (rounds_.back().arena_bytes <= first.budget_bytes ? holding : above) = target;
    }
    return {};
  }

  // A plan for this peak, where there is one that holds it. What was asked for and what is proved
  // of it stay those of the first plan.
  std::optional<Planned> plan_lower(std::int64_t target, const PlanReport& first) const {
    auto plan = plan_of(std::to_string(target));
    if (!plan || !plan->report.holds()) return std::nullopt;
    PlanReport& report = plan->report;
    report.budget = first.budget;
    report.budget_bytes = first.budget_bytes;
    report.solve_ms += first.solve_ms;
    report.proof = first.proof;
    if (report.proof)
      report.proof->optimal = first.proof->optimal && report.recompute_us <= first.recompute_us;
    return std::move(*plan);
  }

  Result<Planned> plan_of(const std::string& budget) const {
    PlanningRequest planning = request_.planning;
    planning.budget = budget;
    return plan_document(document_, planning);
  }

  // Of those that hold, or are as far from it, the one that recomputes less.
  static bool better(const ScheduledPlan& a, const ScheduledPlan& b) {
    if (a.beyond_budget() != b.beyond_budget()) return a.beyond_budget() < b.beyond_budget();
    return a.planned.report.recompute_us < b.planned.report.recompute_us;
  }

  // Schedules a plan, and keeps it where it is the best so far.
  Diagnostics keep(Planned planned, std::int64_t target) {
    const Graph& graph = document_.graph();
    const auto start = std::chrono::steady_clock::now();
    auto schedule = schedule_plan(graph, storages_, planned.costs.groups(graph, storages_),
                                  planned.plan, request_.options);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    ms_ += taken.count();
    if (!schedule) return schedule.diagnostics();
    rounds_.push_back({target, planned.report.peak_bytes, schedule->arena_bytes});
    ScheduledPlan candidate{std::move(planned), std::move(*schedule), {}, 0};
    if (!best_ || better(candidate, *best_)) best_ = std::move(candidate);
    return {};
  }

  const Document& document_;
  const SchedulingRequest& request_;
  const StorageModel storages_;
  std::optional<ScheduledPlan> best_;
  std::vector<SchedulingRound> rounds_;
  double ms_ = 0;
};

}  // namespace

std::int64_t ScheduledPlan::beyond_budget() const {
  const std::int64_t budget = planned.report.budget_bytes;
  return budget == 0 ? 0 : std::max<std::int64_t>(0, schedule.arena_bytes - budget);
}

Result<Schedule> schedule_plan(const Graph& graph, const StorageModel& storages,
                               const FusionGroups& groups, const Plan& plan,
                               const ScheduleOptions& options) {
  auto schedule = make_schedule(graph, storages, groups, plan, options);
  if (!schedule) return schedule.diagnostics();
  if (Diagnostics faults = verify_schedule(graph, storages, plan, *schedule); !faults.empty()) {
    for (Diagnostic& fault : faults) fault.message = "internal error: " + fault.message;
    return faults;
  }
  return schedule;
}

Result<ScheduledPlan> schedule_document(const Document& document,
                                        const SchedulingRequest& request) {
  return Scheduler(document, request).run();
}

}  // namespace recut

// Finds a plan whose arena holds the budget. The planner bounds the live bytes (the peak);
// alignment and gaps between buffers make the arena larger. So plan and schedule alternate: each
// round lowers the planner's target by the arena's excess, and once a round holds, a bisection
// raises the target again, to recompute no more than necessary.
//   target 100 MiB -> arena 103 MiB;  target 97 MiB -> arena 99 MiB: holds;  target 98.5 MiB -> …
// A packer with the budget as its goal isn't enough: no packing is smaller than the live bytes plus
// unavoidable gaps. Cost: up to kMaxRounds plans and schedules. Every schedule is verified.
#include "engine/workspace/scheduling.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "engine/fusion/kernel_model.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/verifier.h"

namespace recut {
namespace {

constexpr int kMaxRounds = 6;
constexpr std::int64_t kClose = 100;  // 1 / this of a target

// Feasible before infeasible, then the smaller excess, then the least recomputation.
bool better(const ScheduledPlan& a, const ScheduledPlan& b) {
  const PlanReport &own = a.planned.report, &other = b.planned.report;
  if (own.holds() != other.holds()) return own.holds();
  if (!own.holds() && own.peak_bytes != other.peak_bytes) return own.peak_bytes < other.peak_bytes;
  if (a.beyond_budget() != b.beyond_budget()) return a.beyond_budget() < b.beyond_budget();
  return own.recompute_us < other.recompute_us;
}

// Plans and schedules with the kernels of one cost model, in up to kMaxRounds rounds. Rounds narrow
// an interval of peak targets: `above` gave too large an arena, `below` holds or can't be planned.
class Scheduler {
 public:
  Scheduler(const Document& document, const SchedulingRequest& request, const CostModel& costs,
            const BaselineCost& baseline_cost)
      : document_(document), request_(request), costs_(costs), baseline_cost_(baseline_cost) {}

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
  // Plans with aligned sizes, so that only gaps separate a plan's peak from its arena. Lowers the
  // target by the arena's excess until one holds or no plan reaches it; then bisects upwards.
  Diagnostics lower(const PlanReport& first) {
    std::int64_t above = first.budget_bytes, below = 0;
    bool holding = false;
    const auto goes_on = [&] {
      return holding || below > 0 ? above - below > above / kClose : best_->beyond_budget() > 0;
    };
    for (int round = 1; round < kMaxRounds && goes_on(); ++round) {
      const std::int64_t target = below > 0 ? below + (above - below) / 2 : next_target(first);
      auto plan = target > 0 ? plan_lower(target, first) : std::nullopt;
      if (!plan) {
        below = std::max<std::int64_t>(target, 1);
        continue;
      }
      if (Diagnostics faults = keep(std::move(*plan), target); !faults.empty()) return faults;
      const bool holds = rounds_.back().arena_bytes <= first.budget_bytes;
      holding = holding || holds;
      (holds ? below : above) = target;
    }
    return {};
  }

  // First the budget less the gap; then low enough that a different plan results.
  std::int64_t next_target(const PlanReport& first) const {
    const SchedulingRound& last = rounds_.back();
    if (rounds_.size() == 1) return first.budget_bytes - last.gap_bytes;
    return std::min(last.target_bytes - (last.arena_bytes - first.budget_bytes),
                    last.arena_bytes - last.gap_bytes - 1);
  }

  // A plan for this peak, if one holds it. It keeps the request and the bounds of the first plan.
  std::optional<Planned> plan_lower(std::int64_t target, const PlanReport& first) const {
    auto plan = plan_of(std::to_string(target), request_.options.alignment);
    if (!plan || !plan->report.holds()) return std::nullopt;
    PlanReport& report = plan->report;
    report.budget = first.budget;
    report.budget_bytes = first.budget_bytes;
    report.solve_ms += first.solve_ms;
    report.proof = first.proof;
    report.remarks = first.remarks;
    if (report.proof)
      report.proof->optimal = first.proof->optimal && report.recompute_us <= first.recompute_us;
    return std::move(*plan);
  }

  Result<Planned> plan_of(const std::string& budget, std::int64_t alignment = 1) const {
    PlanningRequest planning = request_.planning;
    planning.budget = budget;
    planning.alignment = alignment;
    return plan_document(document_, planning, costs_, baseline_cost_);
  }

  // Schedules a plan, and keeps it if it is the best so far.
  Diagnostics keep(Planned planned, std::int64_t target) {
    const Graph& graph = document_.graph();
    const auto start = std::chrono::steady_clock::now();
    // All rounds have the same overrides, and so the same kernels.
    if (!kernels_) kernels_ = std::make_shared<const KernelModel>(planned.costs.kernels(graph));
    auto schedule = schedule_plan(graph, *kernels_, planned.plan, request_.options);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    ms_ += taken.count();
    if (!schedule) return schedule.diagnostics();
    planned.report.arena_bytes = schedule->arena_bytes;
    rounds_.push_back({costs_.fusion, target, planned.report.peak_bytes, schedule->arena_bytes,
                       schedule->gap_bytes()});
    ScheduledPlan candidate{std::move(planned), kernels_, std::move(*schedule), {}, 0};
    if (!best_ || better(candidate, *best_)) best_ = std::move(candidate);
    return {};
  }

  const Document& document_;
  const SchedulingRequest& request_;
  const CostModel& costs_;
  const BaselineCost& baseline_cost_;
  SharedKernels kernels_;
  std::optional<ScheduledPlan> best_;
  std::vector<SchedulingRound> rounds_;
  double ms_ = 0;
};

// The better of two scheduled plans, with the rounds and bounds of both.
ScheduledPlan better_of(ScheduledPlan first, ScheduledPlan second) {
  std::vector<SchedulingRound> rounds = first.rounds;
  rounds.insert(rounds.end(), second.rounds.begin(), second.rounds.end());
  const double schedule_ms = first.schedule_ms + second.schedule_ms;
  if (!better(second, first)) std::swap(first, second);
  merge_findings(second.planned.report, first.planned.report);
  second.rounds = std::move(rounds);
  second.schedule_ms = schedule_ms;
  return second;
}

}  // namespace

std::int64_t ScheduledPlan::beyond_budget() const {
  const std::int64_t budget = planned.report.budget_bytes;
  return budget == 0 ? 0 : std::max<std::int64_t>(0, schedule.arena_bytes - budget);
}

Result<Schedule> schedule_plan(const Graph& graph, const KernelModel& kernels, const Plan& plan,
                               const ScheduleOptions& options) {
  auto schedule = make_schedule(graph, kernels, plan, options);
  if (!schedule) return schedule.diagnostics();
  if (Diagnostics faults = verify_schedule(graph, kernels.storages, plan, *schedule);
      !faults.empty()) {
    for (Diagnostic& fault : faults) fault.message = "internal error: " + fault.message;
    return faults;
  }
  return schedule;
}

Result<Done> measure_arena(const Graph& graph, Planned& planned) {
  const auto schedule = schedule_plan(graph, planned.costs.kernels(graph), planned.plan);
  if (!schedule) return schedule.diagnostics();
  planned.report.arena_bytes = schedule->arena_bytes;
  return Done{};
}

Result<ScheduledPlan> schedule_document(const Document& document,
                                        const SchedulingRequest& request) {
  const PlanningRequest& planning = request.planning;
  const auto model =
      find_cost_model(document.graph(), planning.profile, planning.device, planning.cost_model);
  if (!model) return model.diagnostics();
  const auto baseline_cost = model->baseline_cost(document.reference_graph(), document.graph());
  if (!baseline_cost) return baseline_cost.diagnostics();
  auto scheduled = Scheduler(document, request, *model, *baseline_cost).run();
  const auto smaller = model->with_smaller_kernels();
  if (!scheduled || scheduled->holds() || !smaller) return scheduled;
  auto lower = Scheduler(document, request, *smaller, *baseline_cost).run();
  if (!lower) return lower;
  return better_of(std::move(*scheduled), std::move(*lower));
}

}  // namespace recut

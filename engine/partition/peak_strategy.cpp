// Strategy `peak`: the least recomputation whose peak holds a budget in bytes. It states the graph
// as a RematProblem, solves that (peak/solver.h), and turns the sequence into a plan. The bounds
// that the solver proves become the plan's PeakProof. A forward graph is reordered first, so that
// it recomputes only where no order suffices.
#include <fmt/core.h>

#include "engine/ir/data_flow.h"
#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/least_peak_order.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/strategies.h"
#include "engine/support/units.h"

namespace recut {
namespace {

constexpr double kOrderSeconds = 0.3;  // of a limit on time: the share of a forward graph's order

peak::SolveOptions options_of(const PlanRequest& request, const JointProblem& joint) {
  peak::SolveOptions options;
  options.seed = request.limits.seed;
  options.effort = peak::default_effort(joint.problem(), request.limits.effort);
  options.relative_gap = peak::default_relative_gap(request.limits.effort);
  options.seconds = request.limits.seconds;
  options.cancel = request.limits.cancel;
  options.stop = request.limits.stop;
  if (request.limits.on_better)
    options.on_progress = [&](const peak::Progress& progress) {
      if (progress.holds)
        request.limits.on_better(
            joint.micros(progress.duration - joint.problem().total_duration()));
    };
  return options;
}

// Orders a forward graph for the least peak, unless its program order holds the budget.
// The order and the search for a plan share the limit on time.
void reorder_forward(JointProblem& joint, const PeakBytes* budget, peak::SolveOptions& options) {
  const RematProblem& problem = joint.problem();
  if (budget != nullptr && peak::peak_of(problem, problem.order) <= budget->value) return;
  peak::SolveOptions for_order = options;
  for_order.seconds = kOrderSeconds * options.seconds;
  options.seconds -= for_order.seconds;
  joint.set_order(peak::least_peak_order(problem, for_order));
}

// Plans in the problem's order where that holds the budget, else by search.
peak::Outcome solve_within(const JointProblem& joint, std::int64_t budget,
                           const peak::SolveOptions& options) {
  const RematProblem& problem = joint.problem();
  peak::Outcome found;
  found.peak = peak::peak_of(problem, problem.order);
  if (problem.boundary() >= 0 || found.peak > budget) return peak::solve(problem, budget, options);
  found.holds = found.optimal = true;
  found.sequence = problem.order;
  found.duration = problem.total_duration();
  found.peak_bound = peak::peak_bound(problem, options.bound_states);
  return found;
}

std::string remark(const PeakProof& proof, double recompute_us) {
  if (!proof.holds)
    return fmt::format("proved: no order of this graph peaks below {}",
                       format_bytes(proof.peak_bound_bytes));
  if (proof.optimal) return "proved: no plan within the budget recomputes for less";
  return fmt::format(
      "proved: no plan within the budget recomputes for less than {}, {:.1f} % of "
      "what this one does",
      format_micros(proof.recompute_bound_us), 100 * proof.recompute_bound_us / recompute_us);
}

}  // namespace

Result<PlanOutcome> plan_peak(const Graph& graph, const PlanRequest& request) {
  if (std::holds_alternative<SavedFraction>(request.budget))
    return error("strategy 'peak' takes a budget in bytes of peak memory, such as 3GiB or 40%");
  const StorageModel storages(graph);
  JointProblem joint(graph, storages, request.rates, request.overrides, request.groups,
                     request.alignment);
  const auto* bytes = std::get_if<PeakBytes>(&request.budget);
  peak::SolveOptions options = options_of(request, joint);
  if (!is_joint(graph)) reorder_forward(joint, bytes, options);
  const std::int64_t budget = bytes != nullptr ? bytes->value : peak::kNoBudget;
  const peak::Outcome found = solve_within(joint, budget, options);

  PlanOutcome outcome;
  outcome.plan = joint.plan(found.sequence);
  PeakProof proof;
  proof.holds = found.holds;
  proof.min_peak_bytes = found.holds ? 0 : found.peak;
  proof.peak_bound_bytes = found.peak_bound;
  proof.recompute_bound_us = joint.micros(found.overhead_bound + joint.forced_duration());
  proof.optimal = found.optimal;
  proof.short_search = found.short_search;
  outcome.remarks = {remark(proof, joint.micros(found.overhead + joint.forced_duration()))};
  outcome.proof = proof;
  return outcome;
}

}  // namespace recut

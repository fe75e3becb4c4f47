// Strategy `peak`: the least recomputation whose peak holds a budget in bytes. It states the joint
// graph as a RematProblem, solves that (peak/solver.h), and turns the sequence into a plan. The
// bounds that the solver proves become the plan's PeakProof.
#include <fmt/core.h>

#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/strategies.h"
#include "engine/support/units.h"

namespace recut {
namespace {

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
  const JointProblem joint(graph, storages, request.rates, request.overrides, request.groups,
                           request.alignment);
  const auto* bytes = std::get_if<PeakBytes>(&request.budget);
  const std::int64_t budget = bytes != nullptr ? bytes->value : peak::kNoBudget;
  const peak::Outcome found = peak::solve(joint.problem(), budget, options_of(request, joint));

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

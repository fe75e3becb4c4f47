#include "gui/report/finding.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/units.h"
#include "engine/workspace/plan_text.h"

namespace recut::gui {
namespace {

const char* step_word(const PlanReport& plan) { return plan.inference ? "call" : "step"; }

std::string more_time(double micros) { return "+" + format_micros(micros); }

// The distance of the plan from the proved bound, as `recut plan` counts it.
std::string bound_text(const PlanReport& plan) {
  if (!plan.proof) return fmt::format(". Strategy {} proves no bound", plan.strategy);
  const double bound = plan.proof->recompute_bound_us;
  if (plan.proof->optimal || plan.recompute_us <= bound)
    return ", and no plan within the budget recomputes for less";
  if (bound <= 0) return ". No bound above nothing is proved";
  const double beyond = 100 * (plan.recompute_us / bound - 1);
  if (beyond > 100) return fmt::format(". At least {} are proved", more_time(bound));
  return fmt::format(", within {:.1f} % of the proved bound", std::max(beyond, 0.1));
}

std::string recomputed_text(const PlanReport& plan) {
  const double once = plan.step_us - plan.recompute_us;
  const std::string share =
      once > 0 ? fmt::format(" ({:.1f} %)", 100 * plan.recompute_us / once) : "";
  return fmt::format(
      "At {} this {} recomputes {} of its {} nodes: {}{}{}.", format_bytes(plan.peak_bytes),
      step_word(plan), format_count(static_cast<std::int64_t>(plan.recomputed.size())),
      format_count(plan.nodes), more_time(plan.recompute_us), share, bound_text(plan));
}

std::string unchanged_text(const PlanReport& plan) {
  const std::string text = fmt::format("At {} this {} recomputes nothing",
                                       format_bytes(plan.peak_bytes), step_word(plan));
  if (plan.peak_bytes >= plan.baseline_peak_bytes) return text + ".";
  return fmt::format("{}: its order alone takes the peak down from {}.", text,
                     format_bytes(plan.baseline_peak_bytes));
}

std::string own_text(const PlanReport& plan) {
  if (!plan.holds()) return "The budget isn't held: " + infeasible_budget_text(plan) + ".";
  return plan.recompute_us > 0 ? recomputed_text(plan) : unchanged_text(plan);
}

bool same_kernels(const PlanReport& plan, const CurvePoint& point) {
  return point.fusion == plan.fusion;
}

std::string torch_text(const PlanReport& plan, const CurveReport* curve) {
  if (plan.inference) return "";
  if (curve == nullptr || curve->torch.empty()) return " PyTorch's partitioner wasn't run.";
  const std::string who = curve->torch_recorded
                              ? "PyTorch's partitioner"
                              : "PyTorch's partitioner, as strategy torch repeats it,";
  if (const CurvePoint* point = torch_at_peak(plan, curve)) {
    const std::string peak = format_bytes(point->peak_bytes);
    return fmt::format(
        " {} needs {}{}{}.", who, more_time(point->recompute_us),
        peak == format_bytes(plan.peak_bytes) ? " at that peak" : ", at a peak of " + peak,
        recut_there_text(plan, *curve, *point));
  }
  const CurvePoint* lowest = lowest_of_torch(plan, curve);
  if (lowest == nullptr) return fmt::format(" {} wasn't run with kernels like these.", who);
  return fmt::format(" {} doesn't get there: its lowest peak is {}, for {}.", who,
                     format_bytes(lowest->peak_bytes), more_time(lowest->recompute_us));
}

}  // namespace

const CurvePoint* torch_at_peak(const PlanReport& plan, const CurveReport* curve) {
  const CurvePoint* cheapest = nullptr;
  if (curve == nullptr) return cheapest;
  for (const CurvePoint& point : curve->torch)
    if (same_kernels(plan, point) && point.peak_bytes <= plan.peak_bytes &&
        (cheapest == nullptr || point.recompute_us < cheapest->recompute_us))
      cheapest = &point;
  return cheapest;
}

const CurvePoint* lowest_of_torch(const PlanReport& plan, const CurveReport* curve) {
  const CurvePoint* lowest = nullptr;
  if (curve == nullptr) return lowest;
  for (const CurvePoint& point : curve->torch)
    if (same_kernels(plan, point) && (lowest == nullptr || point.peak_bytes < lowest->peak_bytes))
      lowest = &point;
  return lowest;
}

std::string recut_there_text(const PlanReport& plan, const CurveReport& curve,
                             const CurvePoint& torch) {
  const CurvePoint* own = curve.cheapest_within(torch.peak_bytes);
  if (own == nullptr || own->fusion != torch.fusion ||
      format_bytes(torch.peak_bytes) == format_bytes(plan.peak_bytes))
    return "";
  return fmt::format("; Recut there: {}", signed_micros(own->recompute_us));
}

std::string torch_name(const CurveReport& curve) {
  return curve.torch_recorded ? "PyTorch" : "strategy torch";
}

std::string finding_of(const PlanReport& plan, const CurveReport* curve) {
  return own_text(plan) + torch_text(plan, curve);
}

}  // namespace recut::gui

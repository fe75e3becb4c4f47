#include "gui/app/first_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/units.h"
#include "gui/model/value_table.h"
#include "gui/report/finding.h"

namespace recut::gui {
namespace {

// Proved: no plan of so high a peak recomputes for less, by the plan's own proof or the curve's. A
// bound for a larger budget holds for a smaller one, too.
double proved_recompute_us(const PlanReport& plan, const CurveReport& curve) {
  double bound = plan.proof ? plan.proof->recompute_bound_us : 0;
  for (const CurvePoint& point : curve.points)
    if (point.budget_bytes >= plan.peak_bytes) bound = std::max(bound, point.recompute_bound_us);
  return bound;
}

// Up to this ratio to the bound the text gives the plan's distance from it, beyond it the proved
// part.
constexpr double kNear = 1.1;

std::string proof_text(const PlanReport& plan, const CurveReport& curve) {
  const double bound = proved_recompute_us(plan, curve);
  if (plan.proof && plan.proof->optimal) return ", the least recomputation that is possible";
  if (bound <= 0) return "";
  if (plan.recompute_us > kNear * bound)
    return fmt::format(", of which {} is proved to be needed", format_micros(bound));
  return fmt::format(", within {:.1f} % of the least recomputation that is proved",
                     100 * std::max(0.0, plan.recompute_us / bound - 1));
}

// The quickest of PyTorch's plans that peaks no higher, with the same kernels.
std::string first_torch_text(const PlanReport& plan, const CurveReport& curve) {
  const char* who = curve.torch_recorded ? "PyTorch" : "Partitioned as by PyTorch";
  if (const CurvePoint* point = torch_at_peak(plan, &curve))
    return fmt::format(" {}: {}, at a peak of {}{}.", who, signed_micros(point->recompute_us),
                       format_bytes(point->peak_bytes), recut_there_text(plan, curve, *point));
  const CurvePoint* lowest = lowest_of_torch(plan, &curve);
  if (lowest == nullptr) return "";
  return fmt::format(" {}: no peak below {}.", who, format_bytes(lowest->peak_bytes));
}

}  // namespace

std::string first_sentence(const DocumentView& document) {
  if (document.basis == nullptr) return fmt::format("Reading {} …", document.title);
  return fmt::format("One training step of {} peaks at {}. Drag the budget's line.", document.title,
                     format_bytes(document.basis->baseline_cost.peak_bytes));
}

std::string first_cost(const DocumentView& document) {
  if (!document.shown) return "";
  const PlanReport& plan = document.shown->report();
  if (document.budget_answer() == BudgetAnswer::refused)
    return fmt::format("{} can't be held: the least peak is {}.",
                       format_bytes(document.plan_settings.budget_bytes),
                       format_bytes(document.least_peak()));
  static const CurveReport none;
  const CurveReport& curve = document.curve ? document.curve->report : none;
  const double once = plan.step_us - plan.recompute_us;
  std::string text = format_bytes(plan.peak_bytes) + ": ";
  if (plan.recompute_us <= 0) {
    text += "nothing is recomputed.";
  } else {
    text += signed_micros(plan.recompute_us);
    if (once > 0) text += fmt::format(" ({:.1f} %)", 100 * plan.recompute_us / once);
    text += proof_text(plan, curve) + ".";
  }
  return text + first_torch_text(plan, curve);
}

std::vector<FirstBlock> first_blocks(const PlanView& plan, const LayerBands& layers) {
  struct Bytes {
    double all = 0, saved = 0, again = 0;
  };
  std::vector<Bytes> bytes(layers.names.size());
  const Graph& graph = plan.graph();
  for (std::size_t at = 0; at < graph.order().size() && at < layers.band.size(); ++at) {
    const NodeId id = graph.order()[at];
    const Role role = plan.role(id);
    if (layers.band[at] >= bytes.size() || role == Role::input) continue;
    Bytes& block = bytes[layers.band[at]];
    const auto own = static_cast<double>(row_bytes(plan, id));
    block.all += own;
    block.saved += static_cast<double>(plan.kept_of(id).bytes);
    if (role == Role::recomputed) block.again += own;
  }
  std::vector<FirstBlock> blocks;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double all = std::max(1.0, bytes[i].all);
    blocks.push_back({layers.names[i], bytes[i].saved / all, bytes[i].again / all});
  }
  return blocks;
}

}  // namespace recut::gui

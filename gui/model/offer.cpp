#include "gui/model/offer.h"

#include <fmt/core.h>

#include "engine/support/units.h"

namespace recut::gui {
namespace {

constexpr double kRounding = 1 + 1e-9;  // of a step's time, a sum over its calls in some order
constexpr double kMinPercent = 0.095;   // that is worth an offer: 0.1 %

bool is_better(const PlanView& plan, const PlanView& shown, std::int64_t budget) {
  if (!plan.within(budget)) return false;
  return !shown.within(budget) || plan.report().step_us * kRounding < shown.report().step_us;
}

// The quickest of them that is better than the shown plan.
SharedPlanView best_of(const std::vector<SharedPlanView>& plans, const DocumentView& document) {
  SharedPlanView best = document.shown;
  for (const SharedPlanView& plan : plans)
    if (is_better(*plan, *best, document.plan_settings.budget_bytes)) best = plan;
  return best == document.shown ? nullptr : best;
}

bool shows_own_plan(const DocumentView& document) {
  return document.shown &&
         document.shown == document.known.made_for(request_of(document.plan_settings).budget);
}

// Exactly, if rounding would give both budgets the same text.
std::string budget_text(const PlanView& offered, std::int64_t budget) {
  const std::int64_t its = offered.report().budget_bytes;
  if (its == 0) return "no budget";
  const std::string text = format_bytes(its);
  return text == format_bytes(budget) ? format_count(its) + " B" : text;
}

std::string gain_text(const DocumentView& document, const PlanView& offered) {
  if (!document.holds()) return "holds this budget";
  const double step_us = document.shown->report().step_us;
  const double less_us = step_us - offered.report().step_us, percent = 100 * less_us / step_us;
  if (percent < kMinPercent) return format_micros(less_us) + " quicker";
  return fmt::format("{:.1f} % quicker", percent);
}

}  // namespace

SharedPlanView offered_plan(const DocumentView& document) {
  return shows_own_plan(document) ? best_of(document.known.made(), document) : nullptr;
}

SharedPlanView promising_plan(const DocumentView& document) {
  if (!shows_own_plan(document)) return nullptr;
  const SharedPlanView best = best_of(document.known.all(), document);
  return best && !document.known.made_for(best->request.budget) ? best : nullptr;
}

std::string offer_text(const DocumentView& document, const PlanView& offered) {
  return fmt::format("made for {}: {}", budget_text(offered, document.plan_settings.budget_bytes),
                     gain_text(document, offered));
}

std::string offer_sentence(const DocumentView& document, const PlanView& offered) {
  return fmt::format("A plan made for {} {}{}.",
                     budget_text(offered, document.plan_settings.budget_bytes),
                     document.holds() ? "is " : "", gain_text(document, offered)) +
         (document.holds() ? " It holds this budget, too." : "");
}

}  // namespace recut::gui

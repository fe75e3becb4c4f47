// Sentences about choices: the effect of flipping one, and the reason why some can't be held.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/aliases.h"
#include "engine/support/units.h"
#include "gui/model/value_details.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxBlamed = 3;

// The overrides that each stand in the way; null if it isn't known.
const OverrideBlame* blame_of(const DocumentView& document) {
  const SharedPlanView& refused = document.refused;
  if (document.holds() || !refused) return nullptr;
  const PlanningRequest requested = request_of(document.plan_settings);
  const bool same = refused->request.budget == requested.budget &&
                    refused->request.device == requested.device &&
                    refused->request.overrides == requested.overrides;
  const auto& blame = refused->report().blame;
  return same && blame ? &*blame : nullptr;
}

}  // namespace

std::string text_of(const ValueDetails& details) {
  std::string text = details.title + "\n";
  for (const DetailLine& line : details.lines)
    text += fmt::format("{:<12}{}\n", line.what, line.text);
  return text;
}

std::string flip_text(const Flip& flip, const PlanView& shown) {
  if (!flip.holds)
    return fmt::format("can't be held: the least peak is {}", format_bytes(flip.min_peak_bytes));
  const std::int64_t bytes = flip.peak_bytes - shown.peak();
  const double micros = flip.step_us - shown.report().step_us;
  return fmt::format("holds: peak {} ({}), step {} ({})", format_bytes(flip.peak_bytes),
                     bytes == 0 ? "as now" : signed_bytes(bytes), format_micros(flip.step_us),
                     std::abs(micros) < 0.05 ? "as now" : signed_micros(micros));
}

std::string promise_text(const Flip& flip, const PlanView& shown, const ValueRow& row) {
  const std::int64_t bytes = flip.peak_bytes - shown.peak();
  const double micros = flip.step_us - shown.report().step_us;
  const bool came = flip.holds && bytes == row.flip_bytes && std::abs(micros - row.flip_us) < 0.05;
  if (came) return {};
  const auto change = [](const std::string& text) { return text == "0" ? "no change" : text; };
  return fmt::format(
      "With all others as they are it would be {} at the peak and {} of the step: "
      "planned exactly, others flip, too.",
      change(row.flip_bytes == 0 ? "0" : signed_bytes(row.flip_bytes)),
      change(signed_micros(row.flip_us)));
}

std::string conflict_text(const DocumentView& document) {
  if (document.budget_answer() != BudgetAnswer::refused ||
      !has_overrides(document.graph(), document.plan_settings.overrides))
    return {};
  std::string text = fmt::format("{} can't be held with these overrides: the least is {}.",
                                 format_bytes(document.plan_settings.budget_bytes),
                                 format_bytes(document.least_peak()));
  const OverrideBlame* blame = blame_of(document);
  if (blame == nullptr) return text;
  if (blame->sufficient.empty())
    return text + (blame->feasible_without ? " Without all of them it can."
                                           : " Without them it can't, either.");
  text += " Enough to drop:";
  for (std::size_t i = 0; i < std::min(kMaxBlamed, blame->sufficient.size()); ++i)
    text += (i > 0 ? ", or " : " ") +
            blame->sufficient[i].substr(blame->sufficient[i].rfind("--", 0) == 0 ? 2 : 0);
  if (blame->sufficient.size() > kMaxBlamed)
    text += fmt::format(", or one of {} others", blame->sufficient.size() - kMaxBlamed);
  return text + ".";
}

std::vector<NodeId> blamed_values(const DocumentView& document) {
  std::vector<NodeId> values;
  const OverrideBlame* blame = blame_of(document);
  if (blame == nullptr) return values;
  const auto choices = resolve_overrides(document.graph(), document.plan_settings.overrides);
  if (!choices) return values;
  for (const NamedOverride& choice : choices->each) {
    const bool blamed = std::find(blame->sufficient.begin(), blame->sufficient.end(),
                                  as_written(choice)) != blame->sufficient.end();
    if (!blamed) continue;
    for (const NodeId node : choice.nodes) values.push_back(defining_node(document.graph(), node));
  }
  return values;
}

}  // namespace recut::gui

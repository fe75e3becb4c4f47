// Sentences about choices: what flipping one comes to, and why some can't be held.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/aliases.h"
#include "engine/support/units.h"
#include "gui/model/value_details.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMostBlamed = 3;

// The overrides that each stand in the way; null if it isn't known.
const OverrideBlame* blame_of(const DocumentView& document) {
  const SharedPlanView& refused = document.refused;
  if (document.holds() || !refused) return nullptr;
  const PlanningRequest wanted = request_of(document.wishes);
  const bool same = refused->request.budget == wanted.budget &&
                    refused->request.device == wanted.device &&
                    refused->request.overrides.save == wanted.overrides.save &&
                    refused->request.overrides.recompute == wanted.overrides.recompute;
  const auto& blame = refused->report().blame;
  return same && blame ? &*blame : nullptr;
}

}  // namespace

std::string text_of(const ValueDetails& details) {
  std::string text = details.title + "\n";
  for (const DetailLine& line : details.lines)
    text += fmt::format("{:<12}{}\n", line.what, line.words);
  return text;
}

std::string flip_words(const Flip& flip, const PlanView& shown) {
  if (!flip.holds)
    return fmt::format("can't be held: the least peak is {}", format_bytes(flip.min_peak_bytes));
  const std::int64_t bytes = flip.peak_bytes - shown.peak();
  const double micros = flip.step_us - shown.report().step_us;
  return fmt::format("holds: peak {} ({}), step {} ({})", format_bytes(flip.peak_bytes),
                     bytes == 0 ? "as now" : signed_bytes(bytes), format_micros(flip.step_us),
                     std::abs(micros) < 0.05 ? "as now" : signed_micros(micros));
}

std::string promise_words(const Flip& flip, const PlanView& shown, const ValueRow& row) {
  const std::int64_t bytes = flip.peak_bytes - shown.peak();
  const double micros = flip.step_us - shown.report().step_us;
  const bool came = flip.holds && bytes == row.flip_bytes && std::abs(micros - row.flip_us) < 0.05;
  if (came) return {};
  const auto change = [](const std::string& words) { return words == "0" ? "no change" : words; };
  return fmt::format(
      "With all others as they are it would be {} at the peak and {} of the step: "
      "planned exactly, others flip, too.",
      change(row.flip_bytes == 0 ? "0" : signed_bytes(row.flip_bytes)),
      change(signed_micros(row.flip_us)));
}

std::string conflict_words(const DocumentView& document) {
  if (document.budget_answer() != BudgetAnswer::refused || document.wishes.pins.empty()) return {};
  std::string words =
      fmt::format("{} can't be held with these choices by hand: the least is {}.",
                  format_bytes(document.wishes.budget_bytes), format_bytes(document.least_peak()));
  const OverrideBlame* blame = blame_of(document);
  if (blame == nullptr) return words;
  if (blame->sufficient.empty())
    return words + (blame->feasible_without ? " Without all of them it can."
                                            : " Without them it can't, either.");
  words += " Enough to drop:";
  for (std::size_t i = 0; i < std::min(kMostBlamed, blame->sufficient.size()); ++i)
    words += (i > 0 ? ", or " : " ") +
             blame->sufficient[i].substr(blame->sufficient[i].rfind("--", 0) == 0 ? 2 : 0);
  if (blame->sufficient.size() > kMostBlamed)
    words += fmt::format(", or one of {} others", blame->sufficient.size() - kMostBlamed);
  return words + ".";
}

std::vector<NodeId> blamed_values(const DocumentView& document) {
  std::vector<NodeId> values;
  const OverrideBlame* blame = blame_of(document);
  const auto choices = resolve_overrides(document.graph(), document.wishes.pins);
  if (blame == nullptr || !choices) return values;
  for (const NamedOverride& choice : choices->each) {
    const bool blamed = std::find(blame->sufficient.begin(), blame->sufficient.end(),
                                  as_written(choice)) != blame->sufficient.end();
    if (!blamed) continue;
    for (const NodeId pin : choice.nodes) values.push_back(defining_node(document.graph(), pin));
  }
  return values;
}

}  // namespace recut::gui

#include "gui/app/budget_slider.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr double kKeyStep = 0.01;  // of the peak without recomputation

}  // namespace

std::string typed_budget(std::string_view text, std::int64_t peak) {
  constexpr std::size_t kMaxDigits = 4;
  const bool bare = !text.empty() && text.size() <= kMaxDigits &&
                    text.find_first_not_of("0123456789.") == std::string_view::npos;
  const std::string shown = format_bytes(peak);
  return std::string(text) + (bare ? shown.substr(shown.find(' ') + 1) : "");
}

Span budget_span(const DocumentView& document) {
  const std::int64_t budget = document.plan_settings.budget_bytes;
  const auto most = static_cast<double>(document.basis->baseline_cost.peak_bytes);
  const auto least = static_cast<double>(document.peak_bound());
  const double now = budget == 0 ? most : std::min(most, static_cast<double>(budget));
  return {
      std::min(least, now), most, now,
      fmt::format("budget {}, peak {}, recomputed {}", budget == 0 ? "none" : format_bytes(budget),
                  format_bytes(document.shown->peak()),
                  format_micros(document.shown->report().recompute_us))};
}

void budget_slider(Ui& ui, const DocumentView& document, Intents& intents) {
  const Span span = budget_span(document);
  ui.items.set_span(span);
  const auto moved = moved_by_keys(ui, span, kKeyStep * span.most);
  if (!moved) return;
  std::int64_t requested = *moved >= span.most ? 0 : std::llround(*moved);
  if (ImGui::IsKeyPressed(ImGuiKey_Home)) requested = document.least_peak();
  if (requested == document.plan_settings.budget_bytes) return;
  intents.push_back({"budget.set", requested == 0 ? "none" : fmt::format("{}", requested)});
}

}  // namespace recut::gui

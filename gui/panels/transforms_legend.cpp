#include "gui/panels/transforms_legend.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/glossary.h"

namespace recut::gui {
namespace {

struct LegendRow {
  Role role;
  std::string_view text, short_text;
};
constexpr LegendRow kTransformsLegendRows[] = {
    {Role::saved, "saved", "saved"},
    {Role::recomputed, "recomputed", "recomputed"},
    {Role::freed, "freed in forward", "freed"},
    {Role::result, "result or gradient", "result"},
};
constexpr float kHigh = 21;

// The graph's mark for a box that the pass before hasn't got.
void new_row(Ui& ui, Rect row) {
  ui.items.add("legend new", ItemKind::figure, row, true, "new in this pass");
  const Rect sign = row.cut_left(ui.px(16));
  const ImVec2 c{sign.left + ui.px(6), sign.centre().y};
  const Rect box = rect_around(c, ui.px(11), ui.px(9));
  ui.frame(box, ui.theme.line, ui.px(1));
  ImGui::GetWindowDrawList()->AddTriangleFilled(
      {box.right - ui.px(6), box.top}, {box.right, box.top}, {box.right, box.top + ui.px(6)},
      Ui::paint(ui.theme.text, 0.9));
  row.cut_left(ui.px(4));
  ui.text(row, "new in this pass", Face::text, ui.theme.dim);
}

}  // namespace

float legend_height(const Ui& ui) {
  return std::round(ui.px(kHigh)) * static_cast<float>(std::size(kTransformsLegendRows) + 1) +
         ui.px(30);
}

void draw_legend(Ui& ui, const App& app, Rect area, const Transforms& memory, Intents& intents) {
  heading(ui, area.cut_top(std::round(ui.px(24))), "Legend",
          memory.baseline ? "against the baseline" : "of the plan that is shown");
  for (const LegendRow& row : kTransformsLegendRows) {
    const auto role = static_cast<std::size_t>(row.role);
    const RoleTotal& total = memory.totals[role];
    Rect rect = area.cut_top(std::round(ui.px(kHigh)));
    // The two that the plan chooses have their noun, and room for it.
    const bool chosen = row.role == Role::saved || row.role == Role::recomputed;
    std::string count = chosen ? counted_text(row.role, total.count) : format_count(total.count);
    if (memory.baseline) count = signed_bytes(total.bytes - memory.baseline_totals[role].bytes);
    const WidgetResponse t =
        interact(ui, fmt::format("legend {}", name_of(row.role)), ItemKind::row, rect, true,
                 fmt::format("{}, {}", count, format_bytes(total.bytes)));
    if (t.pressed) {
      intents.push_back({"values.filter", std::string(name_of(row.role))});
      intents.push_back({"panel.show", "values"});
    }
    explain(ui, app, name_of(row.role), fmt::format("Click: list each value that is {}", row.text));
    const Rect sign = rect.cut_left(ui.px(16));
    ui.sign({sign.left + ui.px(6), sign.centre().y}, row.role);
    rect.cut_left(ui.px(4));
    ui.text(rect.cut_right(ui.px(63)), format_bytes(total.bytes), Face::mono, ui.theme.dim,
            Align::right);
    const Colour ink = t.hovered ? ui.theme.text : ui.theme.dim;
    const std::vector<std::string> text{std::string(row.text), std::string(row.short_text)};
    rect.cut_left(ui.fitting(rect, text, Face::text, ink) + ui.px(4));
    ui.fitting(rect, {count, memory.baseline ? count : format_count(total.count)}, Face::small,
               ui.theme.faint, Align::right);
  }
  new_row(ui, area.cut_top(std::round(ui.px(kHigh))));
}

}  // namespace recut::gui

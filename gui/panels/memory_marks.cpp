// The marks in the timeline: the forward/backward boundary, the peak without recomputation, the
// budget, the peak, the step of the keys; their labels leave each other's rectangles free.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/budget_slider.h"
#include "gui/draw/widgets.h"
#include "gui/model/schedule_view.h"
#include "gui/panels/memory_parts.h"

namespace recut::gui {
namespace {

constexpr float kMaxName = 220;  // units of a node's name beside the peak

std::string_view before_budget(BudgetAnswer answer) {
  constexpr std::string_view text[] = {"budget ", "planning: budget ", "not held: budget "};
  return text[static_cast<std::size_t>(answer)];
}

bool is_free(const Rect& box, const Taken& taken) {
  return std::none_of(taken.begin(), taken.end(), [&](const Rect& one) { return one.meets(box); });
}

// The first place that is free and inside; the first of all if none is.
Rect first_free(const std::vector<Rect>& candidates, const Rect& room, const Taken& taken) {
  for (const Rect& candidate : candidates) {
    const bool inside = candidate.left >= room.left && candidate.right <= room.right &&
                        candidate.top >= room.top && candidate.bottom <= room.bottom;
    if (inside && is_free(candidate, taken)) return candidate;
  }
  return candidates.front();
}

// A small label at the first free one of some positions, given by left end and middle.
void put_text(const Ui& ui, std::string_view label, const std::string& text,
              const std::vector<ImVec2>& candidates, const Rect& room, Taken& taken) {
  const ImVec2 size{ui.width(text, Face::small), ui.px(16)};
  std::vector<Rect> boxes;
  for (const ImVec2 at : candidates) boxes.push_back(rect_at({at.x, at.y - size.y / 2}, size));
  const Rect box = first_free(boxes, room, taken);
  ui.label({box.left, box.centre().y}, text, Face::small, ui.theme.dim);
  ui.items.add(label, ItemKind::figure, box, true, text);
  taken.push_back(box);
}

// Adds a row for labels above the plot.
Rect with_row_above(const Ui& ui, Rect in) {
  in.top -= ui.px(20);
  return in;
}

// The rectangle of the peak's label, from the widths of its strong part and its name.
Rect peak_label_rect(const Ui& ui, const Rect& in, ImVec2 at, float strong, float name,
                     float most_name, const Taken& taken) {
  const float high = ui.px(15), gap = ui.px(9);
  std::vector<Rect> candidates;
  for (const float more : {std::min(name, most_name), 0.0f}) {
    const ImVec2 size{strong + more + ui.px(9), high};
    const float most = std::max(in.left, in.right - size.x);
    const float left = std::clamp(at.x - strong / 2, in.left, most);
    candidates.push_back(rect_at({left, at.y - ui.px(22)}, size));
    candidates.push_back(rect_at({at.x + gap, at.y - high / 2}, size));
    candidates.push_back(rect_at({at.x - gap - size.x, at.y - high / 2}, size));
    candidates.push_back(rect_at({left, at.y + gap}, size));
  }
  return first_free(candidates, with_row_above(ui, in), taken);
}

}  // namespace

std::int64_t budget_level(const DocumentView& document) {
  const std::int64_t budget = document.plan_settings.budget_bytes;
  return budget > 0 ? budget : document.basis->baseline_cost.peak_bytes;
}

void mark_boundary(const Ui& ui, const Plot& plot, const PlanView& plan, Taken& taken) {
  const Rect& in = plot.inside();
  const PlanReport& report = plan.report();
  const float x = std::round(plot.x(static_cast<double>(report.forward_runs))) + 0.5f;
  const float y = in.top - ui.px(9), gap = ui.px(7);
  const float room = ui.px(66);
  if (report.backward_runs > 0 && x > in.left && x < in.right)
    ui.dashed_line({x, in.top - ui.px(16)}, {x, in.bottom}, ui.theme.dim, 1, ui.px(3), ui.px(3));
  const float at = std::clamp(x, in.left, in.right);
  const Rect above = with_row_above(ui, in);
  if (report.inference) return;
  const float left = at - gap - ui.width("forward", Face::small);
  if (at - in.left > room) put_text(ui, "forward", "forward", {{left, y}}, above, taken);
  if (in.right - at > room && report.backward_runs > 0)
    put_text(ui, "backward", "backward", {{at + gap, y}}, above, taken);
}

void mark_no_recomputation(const Ui& ui, const Plot& plot, const PlanView& plan, Taken& taken) {
  const std::int64_t bytes = plan.report().baseline_peak_bytes;
  if (bytes <= plan.peak()) return;
  const Rect& in = plot.inside();
  const float y = std::round(plot.y(static_cast<double>(bytes))) + 0.5f;
  if (y < in.top || y > in.bottom) return;
  ui.dashed_line({in.left, y}, {in.right, y}, ui.theme.dim, 1, ui.px(6), ui.px(4));
  std::string text = "nothing recomputed, in program order " + format_bytes(bytes);
  // In a narrow plot, only the panel's heading says so.
  if (ui.width(text, Face::small) > in.width() / 2)
    text = "nothing recomputed " + format_bytes(bytes);
  const float right = in.right - ui.width(text, Face::small), left = in.left + ui.px(4);
  const float over = y - ui.px(8), under = y + ui.px(9);
  put_text(ui, "nothing recomputed", text,
           {{right, over}, {right, under}, {left, over}, {left, under}}, with_row_above(ui, in),
           taken);
}

bool mark_budget(Ui& ui, const Plot& plot, const DocumentView& document, Taken& taken,
                 Intents& intents) {
  const std::int64_t budget = document.plan_settings.budget_bytes;
  const Rect& in = plot.inside();
  const bool none = budget <= 0;
  const Colour colour = none ? ui.theme.dim : colour_of(ui.theme, document.budget_answer());
  const float level = plot.y(static_cast<double>(budget_level(document)));
  const bool above = level<in.top, below = level> in.bottom;  // invisible: the label stays
  const float y = above ? in.top : below ? in.bottom - ui.px(10) : std::round(level);
  const std::string text =
      (none ? std::string("no budget: drag")
            : std::string(before_budget(document.budget_answer())) + format_bytes(budget)) +
      (above   ? " ↑"
       : below ? " ↓"
               : "");
  const float wide = ui.width(text, Face::small) + ui.px(14);
  const Rect left = rect_at({in.left + ui.px(8), y - (above ? 0 : ui.px(9))}, {wide, ui.px(18)});
  const Rect right = left.moved(in.right - ui.px(8) - left.right, 0);
  const float down = ui.px(10);
  const Rect pill = first_free({left, left.moved(0, down), right, right.moved(0, down)}, in, taken);
  taken.push_back(pill);
  taken.push_back(
      {in.left, y - ui.px(1.5f), in.right, y + ui.px(1.5f)});  // it would strike through labels
  const bool seen = !above && !below;
  const float reach = seen ? ui.px(4) : 0;
  const WidgetResponse line = interact(ui, "budget line", ItemKind::handle,
                                       {in.left, y - reach, in.right, y + reach}, seen, "");
  ui.items.set_name("Budget's line");
  const WidgetResponse grip =
      interact(ui, "budget", ItemKind::slider, pill, true, none ? "none" : format_bytes(budget));
  budget_slider(ui, document, intents);
  if (!line.held && !grip.held)
    hint(ui, "Drag it, or move it by arrow keys: a peak in bytes that the plan holds");
  const bool near = line.hovered || line.held || grip.hovered || grip.held;
  if (near) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (seen && none)
    ui.dashed_line({in.left, y}, {in.right, y}, colour, near ? ui.px(2) : 1, ui.px(6), ui.px(4));
  else if (seen)
    ui.fill({in.left, y - ui.whole(1) / 2, in.right, y + ui.whole(near ? 2 : 1)}, colour);
  ui.fill(pill, colour, ui.px(kRadius));
  ui.text(pill, text, Face::small, ui.theme.background, Align::centre);
  return line.held || grip.held;
}

// Labels the peak above the dot, else beside it, else below it; without the node's name if nothing
// else is free.
void mark_peak(const Ui& ui, const Plot& plot, const DocumentView& document, Motion& motion,
               const Taken& taken) {
  const PlanReport& report = document.shown->report();
  const Rect& in = plot.inside();
  const double step = motion.ease("memory peak", static_cast<double>(report.peak_step) + 0.5);
  const ImVec2 at = plot.at(step, static_cast<double>(report.peak_bytes));
  if (at.x < in.left || at.x > in.right || at.y < in.top - 1 || at.y > in.bottom) return;
  const std::string bytes = "peak " + format_bytes(report.peak_bytes);
  std::string arena = arena_beside_peak(document);
  if (!arena.empty()) arena = ", arena " + arena + "  ";
  const std::string where = arena + " " + report.timeline[report.peak_step].node;
  const Rect box = peak_label_rect(ui, in, at, ui.width(bytes, Face::strong),
                                   std::ceil(ui.width(where, Face::mono_small)) + 1,
                                   ui.px(kMaxName) + ui.width(arena, Face::mono_small), taken);
  ui.fill(box, ui.theme.panel, ui.px(3), 0.9);
  Rect rest = box.inset(ui.px(3), 0);
  ui.text(rest.cut_left(ui.width(bytes, Face::strong) + ui.px(4)), bytes, Face::strong,
          ui.theme.text);
  if (rest.width() > ui.px(8)) ui.text(rest, where, Face::mono_small, ui.theme.dim);
  ui.circle(at, ui.px(5), ui.theme.panel);
  ui.circle(at, ui.px(4), ui.theme.text);
  ui.items.add("peak words", ItemKind::figure, box, true, bytes + where);
  ui.items.add("peak", ItemKind::figure, rect_around(at, ui.px(10), ui.px(10)), true,
               fmt::format("{} at {}", format_bytes(report.peak_bytes),
                           report.timeline[report.peak_step].node));
}

std::string cursor_text(const PlanView& plan, std::size_t step) {
  const TimelineStep& it = plan.report().timeline[step];
  return fmt::format("{} {}, {} alive", step_label(plan.report(), step), it.node,
                     format_bytes(it.total()));
}

void mark_cursor(const Ui& ui, const Plot& plot, const PlanView& plan, std::size_t step) {
  const Rect& in = plot.inside();
  const std::string text = cursor_text(plan, step);
  const float x = std::round(plot.x(static_cast<double>(step) + 0.5)) + 0.5f;
  const float wide = std::min(in.width(), std::ceil(ui.width(text, Face::mono_small)) + ui.px(12));
  const float left = std::clamp(x - wide / 2, in.left, std::max(in.left, in.right - wide));
  const Rect pill = rect_at({left, in.bottom - ui.px(19)}, {wide, ui.px(17)});  // over no number
  ui.items.add("cursor", ItemKind::figure, pill, true, text);
  if (x < in.left || x > in.right) return;
  ui.line({x, in.top}, {x, in.bottom}, ui.theme.selection, ui.whole(1));
  ui.fill(pill, ui.theme.raised, ui.px(kRadius));
  ui.frame(pill, ui.theme.selection, ui.px(kRadius));
  ui.text(pill.inset(ui.px(4), 0), text, Face::mono_small, ui.theme.text, Align::centre);
}

}  // namespace recut::gui

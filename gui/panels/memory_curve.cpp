// Draws the memory timeline: bands stacked by module or kind, outlines of a baseline and of
// measured bytes, lifetimes of storages alive at one step, and the selected value's. A plan may
// have thousands of steps to a pixel: steps that share a pixel column are drawn once, by their
// greatest step, with a veil down to the least. So the cost follows the width of the plot and not
// the length of the plan.
#include "gui/panels/memory_curve.h"

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "engine/workspace/plan_report.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxBoxes = 200;

// The end of a storage's life, on the axis of steps.
double end_of(const PlanView& plan, const StorageInstance& instance) {
  return static_cast<double>(std::min(instance.last_use + 1, plan.replay().steps.size()));
}

Rect box_of(const Plot& plot, double from, double to, double bottom, double top) {
  return {plot.x(from), plot.y(top), std::max(plot.x(to), plot.x(from) + 1), plot.y(bottom)};
}

}  // namespace

Colour colour_of(const Theme& theme, const MemoryStack& stack, std::size_t band) {
  const MemoryStack::Band& it = stack.bands[band];
  switch (it.paint) {
    case MemoryStack::Paint::kind:
      return colour_of(theme, static_cast<MemoryKind>(it.index));
    case MemoryStack::Paint::gradients:
      return mix(theme.panel, theme.freed, 0.75);
    case MemoryStack::Paint::outside:
      return mix(theme.panel, theme.freed, 0.45);
    case MemoryStack::Paint::layer:
      break;
  }
  std::size_t layers = 0;
  for (const auto& one : stack.bands)
    if (one.paint == MemoryStack::Paint::layer) layers = std::max(layers, one.index + 1);
  const double at = layers < 2 ? 0
                               : static_cast<double>(it.index) / static_cast<double>(layers - 1) *
                                     static_cast<double>(theme.layers.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), theme.layers.size() - 2);
  return mix(theme.layers[low], theme.layers[low + 1], at - static_cast<double>(low));
}

void draw_stack(const Ui& ui, const Plot& plot, const MemoryStack& stack,
                const std::vector<StepColumn>& columns) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::size_t bands = stack.bands.size();
  std::vector<ImU32> paints;
  for (std::size_t band = 0; band < bands; ++band)
    paints.push_back(Ui::paint(colour_of(ui.theme, stack, band)));
  const ImU32 veil = Ui::paint(ui.theme.panel, 0.4);
  for (const StepColumn& column : columns) {
    const float left = std::round(plot.x(static_cast<double>(column.first)));
    const float right = std::max(left + 1, std::round(plot.x(static_cast<double>(column.end))));
    const std::int64_t* bytes = stack.at(column.greatest);
    double sum = 0;
    float floor = plot.y(0);
    int rects = 1;
    for (std::size_t band = 0; band < bands; ++band) rects += bytes[band] > 0 ? 1 : 0;
    list.PrimReserve(rects * 6, rects * 4);
    for (std::size_t band = 0; band < bands; ++band) {
      if (bytes[band] <= 0) continue;
      sum += static_cast<double>(bytes[band]);
      const float top = plot.y(sum);
      list.PrimRect({left, top}, {right, floor}, paints[band]);
      floor = top;
    }
    const float least = plot.y(static_cast<double>(column.least));
    list.PrimRect({left, floor}, {right, std::max(floor, least)}, veil);
  }
}

Colour outline_colour(const Theme& theme, const PlanView& plan) {
  return plan.request.strategy == "torch" ? theme.conflict : theme.text;
}

void draw_outline(const Ui& ui, const Plot& plot, const PlanView& plan,
                  const std::vector<double>& positions, Colour colour) {
  const Rect& in = plot.inside();
  const auto& steps = plan.replay().steps;
  std::vector<ImVec2> line;
  float column = -1e9f, before = in.bottom;
  for (std::size_t step = 0; step < std::min(steps.size(), positions.size()); ++step) {
    const float x = std::round(plot.x(positions[step]));
    const float y = plot.y(static_cast<double>(steps[step].live_bytes));
    if (x < in.left - 1) {
      before = y;
      continue;
    }
    if (x > in.right) break;
    if (line.empty()) line.push_back({std::max(in.left, x), before});
    if (x == column) {
      line.back().y = std::min(line.back().y, y);
      continue;
    }
    line.push_back({x, line.back().y});
    line.push_back({x, y});
    column = x;
  }
  if (line.empty()) return;
  line.push_back({in.right, line.back().y});
  plot.line(line, colour, ui.px(1.2f));
}

Colour measured_colour(const Theme& theme) { return theme.differs; }

void draw_measured(const Ui& ui, const Plot& plot, const MemoryComparison& comparison) {
  const Rect& in = plot.inside();
  std::vector<ImVec2> line;
  float before = plot.y(0);
  for (const MemoryPoint& point : comparison.measured) {
    const float x = std::round(plot.x(point.step));
    const float y = plot.y(static_cast<double>(std::max<std::int64_t>(0, point.bytes)));
    if (x > in.right) break;
    if (x >= in.left && !line.empty() && x == line.back().x) {
      line.back().y = std::min(line.back().y, y);
    } else if (x >= in.left) {
      line.push_back({x, line.empty() ? before : line.back().y});
      line.push_back({x, y});
    }
    before = y;
  }
  line.push_back({in.right, line.empty() ? before : line.back().y});
  plot.line(line, measured_colour(ui.theme), ui.px(1.6f));
}

void draw_lifetimes(const Ui& ui, const Plot& plot, const PlanView& plan, std::size_t step,
                    const std::vector<const StorageInstance*>& alive) {
  const Rect& in = plot.inside();
  double sum = 0;
  for (std::size_t i = 0; i < std::min(alive.size(), kMaxBoxes); ++i) {
    const StorageInstance& one = *alive[i];
    const Rect whole = box_of(plot, static_cast<double>(one.birth), end_of(plan, one), sum,
                              sum + static_cast<double>(one.bytes));
    const Rect box = whole.within(in);
    sum += static_cast<double>(one.bytes);
    if (whole.height() < 2) break;
    if (box.empty()) continue;
    const Colour colour = colour_of(ui.theme, kind_of(one.kind));
    ui.fill(box, ui.theme.panel);
    ui.fill({box.left, box.top + ui.whole(1), box.right, box.bottom},
            mix(ui.theme.panel, colour, 0.55));
    const bool room = box.height() >= ui.px(13) && box.width() >= ui.px(40);
    if (room)
      ui.text(box.inset(ui.px(5), 0), plan.graph().node_name(one.owner), Face::mono_small,
              ui.theme.text);
  }
  const float x = std::round(plot.x(static_cast<double>(step) + 0.5)) + 0.5f;
  ui.line({x, in.top}, {x, in.bottom}, ui.theme.text, 1, 0.6);
}

void draw_selection(const Ui& ui, const Plot& plot, const PlanView& plan, NodeId id) {
  const Rect& in = plot.inside();
  const Colour blue = ui.theme.selection;
  for (const StorageInstance* one : instances_behind(plan, id)) {
    Rect box = box_of(plot, static_cast<double>(one->birth), end_of(plan, *one), 0,
                      static_cast<double>(one->bytes));
    box.left = std::round(box.left);
    box.right = std::max(box.left + ui.whole(2), std::round(box.right));
    box.top = std::min(box.top, in.bottom - ui.px(4));
    box = box.within(in);
    if (box.empty()) continue;
    ui.fill({box.left, in.top, box.right, in.bottom}, blue, 0, 0.07);
    ui.fill(box, ui.theme.panel, 0, 0.45);
    ui.fill(box, blue, 0, 0.4);
    ui.frame(box, blue, 0, ui.whole(1.3f));
  }
}

Axis step_axis(double from, double to, std::size_t steps, int ticks) {
  Axis axis{from, std::max(to, from + 1), {}};
  double tick = 1;
  for (int i = 0; (axis.to - axis.from) / tick > ticks; ++i)
    tick *= i % 3 == 1 ? 2.5 : 2;  // 1, 2, 5, 10 …
  for (double at = std::ceil(from / tick) * tick; at <= axis.to; at += tick)
    if (at <= static_cast<double>(steps))
      axis.ticks.push_back({at, format_count(static_cast<std::int64_t>(at))});
  return axis;
}

}  // namespace recut::gui

#include "gui/panels/memory_arena.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"

namespace recut::gui {
namespace {

Rect rect_of(const Plot& plot, const ScheduleView& schedule, const Buffer& buffer) {
  const auto from = static_cast<double>(schedule.first_step(buffer.first_kernel));
  const auto to = static_cast<double>(schedule.end_step(buffer.last_kernel));
  const auto bottom = static_cast<double>(buffer.offset);
  Rect rect{plot.x(from), plot.y(bottom + static_cast<double>(buffer.bytes)), plot.x(to),
            plot.y(bottom)};
  rect.left = std::round(rect.left);
  rect.right = std::max(rect.left + 1, std::round(rect.right));
  rect.top = std::min(std::round(rect.top), rect.bottom - 1);
  return rect;
}

std::string name_of(const ScheduleView& schedule, const Buffer& buffer) {
  return (buffer.workspace ? "workspace of " : "") + schedule.graph().node_name(buffer.owner);
}

}  // namespace

std::string arena_text(const ScheduleView& schedule, std::int64_t budget_bytes) {
  const std::int64_t gap = schedule.schedule.gap_bytes(), beyond = schedule.beyond(budget_bytes);
  std::string text = "arena " + format_bytes(schedule.schedule.arena_bytes);
  if (beyond > 0) text += fmt::format(", {} above the budget", format_bytes(beyond));
  if (gap == 0) return text + ", no packing has less";
  return fmt::format("{}, {} above the most alive at once", text, format_bytes(gap));
}

std::string buffer_text(const ScheduleView& schedule, const Buffer& buffer) {
  std::string text = fmt::format("{}\n{} at {}, to {}\nkernel {} to {}", name_of(schedule, buffer),
                                 format_bytes(buffer.bytes), format_count(buffer.offset),
                                 format_count(buffer.offset + buffer.bytes), buffer.first_kernel,
                                 buffer.last_kernel);
  if (buffer.last_kernel + 1 == schedule.schedule.kernels.size()) text += ", the last";
  text += fmt::format("\n{}", name_of(buffer.kind));
  if (buffer.in_place_of)
    text += fmt::format(", in the place of {}",
                        name_of(schedule, schedule.schedule.buffers[*buffer.in_place_of]));
  return text;
}

void draw_arena(const Ui& ui, const Plot& plot, const ScheduleView& schedule,
                const MemoryCache& cache, NodeId selected) {
  const Rect& in = plot.inside();
  for (const bool chosen : {false, true})
    for (const Buffer& buffer : schedule.schedule.buffers) {
      if ((buffer.owner == selected) != chosen) continue;
      const Rect whole = rect_of(plot, schedule, buffer);
      Rect rect = whole.within(in);
      if (rect.empty()) continue;
      const Colour colour = chosen ? ui.theme.selection : cache.colour(ui.theme, buffer);
      // A line of the background between neighbours, where there is room for one.
      if (whole.height() >= 4 && rect.top == whole.top) rect.top += 1;
      if (whole.width() >= 4 && rect.right == whole.right) rect.right -= 1;
      ui.fill(rect, mix(ui.theme.panel, colour, chosen ? 0.85 : 0.62));
      if (rect.height() >= ui.px(13) && rect.width() >= ui.px(44))
        ui.text(rect.inset(ui.px(4), 0), name_of(schedule, buffer), Face::mono_small,
                chosen ? ui.theme.background : ui.theme.text);
      if (chosen)
        ui.items.add("chosen", ItemKind::figure, rect, true, buffer_text(schedule, buffer));
    }
}

void mark_arena(const Ui& ui, const Plot& plot, const ScheduleView& view, std::int64_t budget_bytes,
                Taken& taken) {
  const Schedule& schedule = view.schedule;
  const Rect& in = plot.inside();
  const auto line = [&](std::int64_t bytes, Colour colour, bool dashed) {
    const float y = std::round(plot.y(static_cast<double>(bytes))) + 0.5f;
    if (y < in.top || y > in.bottom) return;
    if (dashed)
      ui.dashed_line({in.left, y}, {in.right, y}, colour, 1, ui.px(6), ui.px(4));
    else
      ui.line({in.left, y}, {in.right, y}, colour, 1);
  };
  line(schedule.arena_bytes, ui.theme.text, false);
  if (schedule.gap_bytes() > 0) line(schedule.lower_bound_bytes, ui.theme.dim, true);
  const std::string text = arena_text(view, budget_bytes);
  const Colour colour = view.beyond(budget_bytes) > 0 ? ui.theme.conflict : ui.theme.text;
  const float wide = std::min(in.width(), std::ceil(ui.width(text, Face::strong)) + ui.px(6));
  const float y = plot.y(static_cast<double>(schedule.arena_bytes));
  const float top = std::clamp(y - ui.px(19), in.top - ui.px(18), in.bottom - ui.px(17));
  const Rect rect = rect_at({in.right - wide, top}, {wide, ui.px(17)});
  ui.fill(rect, ui.theme.panel, ui.px(3), 0.9);
  ui.text(rect.inset(ui.px(3), 0), text, Face::strong, colour, Align::right);
  ui.items.add("arena words", ItemKind::figure, rect, true, text);
  taken.push_back(rect);
}

const Buffer* buffer_at(const Plot& plot, const ScheduleView& schedule, ImVec2 at) {
  const Buffer* found = nullptr;
  for (const Buffer& buffer : schedule.schedule.buffers)
    if (rect_of(plot, schedule, buffer).contains(at)) found = &buffer;
  return found;
}

}  // namespace recut::gui

// The kernels of a schedule in order: number, calls, outputs, time.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/draw/widgets.h"
#include "gui/panels/code_parts.h"

namespace recut::gui {
namespace {

constexpr float kCodeListNumber = 38, kCodeListBytes = 70, kCodeListTime = 62;  // units: columns
constexpr float kBothTimes = 380;  // units that planned and measured take

class KernelList {
 public:
  explicit KernelList(const CodePanelContext& context) : context_(context), ui_(context.ui) {}

  void draw(Rect area) {
    both_times_ =
        context_.run != nullptr && context_.run->planned && area.width() >= ui_.px(kBothTimes);
    const auto& launches = context_.schedule.launches;
    const float high = ui_.target(kRow - 1);
    const Rect titles = area.cut_top(std::round(ui_.px(22)));
    area_ = area;
    const Scrolled region =
        begin_scroll(ui_, "kernels", area, high * static_cast<float>(launches.size()));
    const float above = region.visible.top - region.content.top;
    const auto first = static_cast<std::size_t>(std::max(0.0f, above / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    const auto line = [&](std::size_t i) {
      return rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                     {region.content.width(), high});
    };
    for (std::size_t i = first; i < std::min(launches.size(), first + shown); ++i)
      kernel(launches[i], line(i), i > 0 && starts_backward(launches[i - 1], launches[i]));
    if (context_.view.bring_kernel) bring(region, line);
    end_scroll();
    columns({titles.left, titles.top, region.content.right, titles.bottom});
  }

 private:
  template <class Line>
  void bring(const Scrolled& region, const Line& line) {
    const auto& launches = context_.schedule.launches;
    const auto at = static_cast<std::size_t>(
        std::lower_bound(launches.begin(), launches.end(), context_.view.kernel) -
        launches.begin());
    const Rect row = line(at);
    scroll_to(row.top - 2 * row.height(), row.bottom + 2 * row.height(), region);
    context_.view.bring_kernel = false;
  }

  bool starts_backward(std::uint32_t before, std::uint32_t k) const {
    return context_.schedule.kernel(before).phase == Phase::forward &&
           context_.schedule.kernel(k).phase == Phase::backward;
  }

  Rect cells(Rect row) const {
    row.cut_left(ui_.px(8));
    row.cut_right(ui_.px(12));
    return row;
  }

  void columns(const Rect& row) const {
    Rect rest = cells(row);
    const auto title = [&](Rect rect, std::string_view text, Align align) {
      ui_.text(rect, text, Face::small, ui_.theme.faint, align);
    };
    if (context_.run != nullptr)
      title(rest.cut_right(ui_.px(kCodeListTime)), "measured", Align::right);
    if (context_.run == nullptr || both_times_)
      title(rest.cut_right(ui_.px(kCodeListTime)), "planned", Align::right);
    title(rest.cut_right(ui_.px(kCodeListBytes)), "makes", Align::right);
    rest.cut_left(ui_.px(kCodeListNumber + 10));
    title(rest, "kernel", Align::left);
  }

  void kernel(std::uint32_t k, const Rect& row, bool first_of_backward) {
    const ScheduleView& schedule = context_.schedule;
    const std::string name = schedule.name(k);
    const bool chosen = k == context_.view.kernel;
    const WidgetResponse t = gui::row(ui_, fmt::format("kernel {}", k), row, chosen, name);
    if (t.pressed) context_.intents.push_back({"code.kernel", fmt::format("{}", k)});
    if (chosen) ui_.items.add("chosen", ItemKind::figure, row.within(area_), true, name);
    if (chosen && context_.view.on_kernel)
      ui_.frame(row.inset(ui_.px(1), 0), ui_.theme.selection, ui_.px(kRadius));
    if (first_of_backward) {
      ui_.dashed_line({row.left, row.top}, {row.right, row.top}, ui_.theme.dim, 1, ui_.px(3),
                      ui_.px(3));
    }
    Rect rest = cells(row);
    times(k, rest);
    ui_.text(rest.cut_right(ui_.px(kCodeListBytes)), format_bytes(schedule.bytes(k)),
             Face::mono_small, ui_.theme.dim, Align::right);
    ui_.text(rest.cut_left(ui_.px(kCodeListNumber)), fmt::format("{}", k), Face::mono_small,
             ui_.theme.faint, Align::right);
    rest.cut_left(ui_.px(10));
    rest.cut_right(ui_.px(8));
    if (schedule.kernel(k).again) {
      ui_.sign(rest.cut_left(ui_.px(12)).centre(), Role::recomputed);
      rest.cut_left(ui_.px(6));
    }
    ui_.text(rest, name, Face::mono, ui_.theme.text);
    if (t.hovered) hint(ui_, kernel_hint(k, name));
  }

  std::string kernel_hint(std::uint32_t k, const std::string& name) const {
    const ScheduledKernel& kernel = context_.schedule.kernel(k);
    return fmt::format("{}\n{}{}, makes {}", name,
                       kernel.phase == Phase::forward ? "forward" : "backward",
                       kernel.again ? ", again" : "", format_bytes(context_.schedule.bytes(k)));
  }

  // The predicted time beside a measured one, by the profile of the measured device.
  double planned_micros(std::uint32_t k) const {
    return context_.run != nullptr ? context_.run->planned->kernel_us[k]
                                   : context_.schedule.micros(k);
  }

  // A bar behind the measured time says which share of the slowest kernel's it is.
  void times(std::uint32_t k, Rect& rest) const {
    if (context_.run != nullptr) {
      const Rect cell = rest.cut_right(ui_.px(kCodeListTime));
      const double ms = context_.run->kernel_ms[k];
      const double most = context_.run->kernel_ms[context_.run->slowest.front()];
      const double share = most > 0 ? ms / most : 0;
      Rect bar = cell.inset(ui_.px(-4), ui_.px(3));
      bar.left = bar.right - bar.width() * static_cast<float>(share);
      ui_.fill(bar, heat_colour(ui_.theme, share), ui_.px(2));
      ui_.text(cell, format_micros(1e3 * ms), Face::mono_small, ui_.theme.text, Align::right);
    }
    if (context_.run == nullptr || both_times_)
      ui_.text(rest.cut_right(ui_.px(kCodeListTime)), format_micros(planned_micros(k)),
               Face::mono_small, ui_.theme.dim, Align::right);
  }

  const CodePanelContext& context_;
  Ui& ui_;
  bool both_times_ = false;
  Rect area_;  // of the rows
};

}  // namespace

void draw_kernels(const CodePanelContext& context, Rect area) { KernelList(context).draw(area); }

}  // namespace recut::gui

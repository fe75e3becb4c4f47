// The memory of a step as SVG: live bytes by step in program order, stacked from the longest-lived
// kind at the bottom to the shortest-lived, with the peak, the boundary, and the baseline's peak as
// a dashed line. At most one column is drawn for each unit of width, by its greatest step, so the
// size of the file doesn't depend on the length of the plan. Labels take the first free position,
// in a shorter form if necessary.
#include "gui/pictures/memory_timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/pictures/axis.h"
#include "gui/pictures/plot_frame.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr PlotMargins kTimelineMargins{84, 28, 96};
constexpr double kTimelineHeight = 344;  // of the axes
constexpr double kTimelineRoom = 1.06;   // above the highest value

constexpr MemoryKind kStackOrder[] = {MemoryKind::saved, MemoryKind::result, MemoryKind::recomputed,
                                      MemoryKind::temporary};

// A run of steps drawn as one column: the bytes of its greatest step.
struct Column {
  std::array<std::int64_t, kMemoryKinds> bytes = {};
  std::size_t first_step = 0;
};

// The columns of the picture, at most one a unit: more steps share a column, which shows their
// greatest.
std::vector<Column> columns_of(const std::vector<TimelineStep>& steps, double width) {
  const std::size_t count = std::min(steps.size(), static_cast<std::size_t>(width));
  std::vector<Column> columns(count);
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t begin = c * steps.size() / count;
    const std::size_t end = (c + 1) * steps.size() / count;
    const auto greatest = std::max_element(
        steps.begin() + static_cast<std::ptrdiff_t>(begin),
        steps.begin() + static_cast<std::ptrdiff_t>(end),
        [](const TimelineStep& a, const TimelineStep& b) { return a.total() < b.total(); });
    columns[c] = {greatest->bytes, begin};
  }
  return columns;
}

class TimelinePicture {
 public:
  TimelinePicture(const PlanReport& report, const PictureLook& look)
      : report_(report),
        theme_(*look.theme),
        look_(look),
        svg_(look, look.theme->panel),
        axis_(std::max<std::int64_t>({report.peak_bytes, report.baseline_peak_bytes, 1}),
              kTimelineRoom, theme_.faint),
        frame_(plot_frame(look, kTimelineMargins, kTimelineHeight, axis_.tight())),
        columns_(columns_of(report.timeline, frame_.width)) {}

  std::string draw() && {
    if (look_.title) heading();
    axis_.draw(svg_, frame_, theme_.line);
    svg_.keep_labels_in(frame_.around());
    if (!columns_.empty()) {
      areas();
      boundary();
      peak();
      draw_baseline_peak();
      ends();
    }
    const double last = legend();
    return std::move(svg_).finish({0, 0, frame_.width, last + (look_.title ? 30 : 14)},
                                  "Memory of a step of " + report_.model);
  }

 private:
  double x_of(double step) const {
    return frame_.across(step / std::max<double>(1, static_cast<double>(report_.timeline.size())));
  }
  double y_of(std::int64_t bytes) const { return axis_.y_of(frame_, bytes); }

  void heading() {
    const TextStyle title{theme_.text, 16, 600}, small{theme_.dim, 13};
    const TextStyle figures{theme_.text, 12, 400, Anchor::start, true};
    svg_.text({24, 34}, "Memory", title);
    const double x = 24 + text_width("Memory", title) + 12;
    svg_.text({x, 34},
              fitted(fmt::format("{} · {} · strategy {}, budget {}", report_.model,
                                 report_.inference ? "in the plan's order" : "in program order",
                                 report_.strategy, report_.budget),
                     small, frame_.width - 24 - x),
              small);
    const std::string text = fmt::format(
        "peak {}{} · {} · recomputed {} in {} runs", format_bytes(report_.peak_bytes), arena(),
        kept(), format_micros(report_.recompute_us), format_count(report_.recomputed_runs));
    svg_.text({24, 60}, fitted(text, figures, frame_.width - 48), figures);
  }

  std::string kept() const {
    return report_.inference
               ? "weights " + format_bytes(report_.weights.bytes)
               : fmt::format("saved {} in {} storages", format_bytes(report_.saved_bytes),
                             format_count(report_.saved_storages()));
  }

  std::string arena() const {
    return report_.arena_differs() ? " · arena " + format_bytes(report_.arena_bytes) : "";
  }

  // Kinds from the longest-lived, at the bottom, to the shortest-lived.
  void areas() {
    std::vector<std::int64_t> floor(columns_.size(), 0);
    for (const MemoryKind kind : kStackOrder) {
      std::vector<PicturePoint> upper, lower;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const double left = x_of(static_cast<double>(columns_[c].first_step));
        const double right = c + 1 < columns_.size()
                                 ? x_of(static_cast<double>(columns_[c + 1].first_step))
                                 : frame_.right;
        const std::int64_t top = floor[c] + columns_[c].bytes[static_cast<std::size_t>(kind)];
        for (const double x : {left, right}) {
          upper.push_back({x, y_of(top)});
          lower.push_back({x, y_of(floor[c])});
        }
        floor[c] = top;
      }
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      svg_.polygon(upper, colour_of(theme_, kind), 0.85);
    }
  }

  void boundary() {
    if (report_.inference) return;
    draw_phase_boundary(svg_, frame_, x_of(static_cast<double>(report_.forward_runs)), theme_.dim);
  }

  // Labels the peak beside its mark; without the node's name if there is no room.
  void peak() {
    const TimelineStep& step = report_.timeline[report_.peak_step];
    const double x = x_of(static_cast<double>(report_.peak_step) + 0.5);
    const double y = y_of(report_.peak_bytes);
    svg_.circle({x, y}, 4, theme_.text, theme_.panel);
    svg_.keep_clear({x - 4, y - 4, x + 4, y + 4});
    if (!step.module.empty()) svg_.hint({x - 6, y - 6}, 12, 12, step.module);
    const std::string bytes = "peak " + format_bytes(report_.peak_bytes);
    svg_.label({{{x + 9, y - 7}, Anchor::start},
                {{x - 9, y - 7}, Anchor::end},
                {{x, y - 11}, Anchor::middle},
                {{x + 9, y + 15}, Anchor::start},
                {{x - 9, y + 15}, Anchor::end}},
               {bytes + " at " + step.node, bytes}, {theme_.text, 12, 600});
  }

  void draw_baseline_peak() {
    if (report_.baseline_peak_bytes <= report_.peak_bytes) return;
    const double y = y_of(report_.baseline_peak_bytes);
    svg_.line({frame_.left, y}, {frame_.right, y}, theme_.dim, 1, "6 4");
    const std::string bytes = format_bytes(report_.baseline_peak_bytes);
    svg_.label({{{frame_.right, y - 6}, Anchor::end},
                {{frame_.left + 6, y - 6}, Anchor::start},
                {{frame_.right, y + 14}, Anchor::end},
                {{frame_.left + 6, y + 14}, Anchor::start}},
               {"nothing recomputed, in program order: " + bytes, "nothing recomputed: " + bytes},
               {theme_.dim, 11});
  }

  void ends() {
    const TextStyle style{theme_.faint, 11, 400, Anchor::start, true};
    const double y = frame_.bottom + 18;
    svg_.label({{{frame_.left, y}, Anchor::start}}, {step_label(report_, 0)}, style);
    svg_.label({{{frame_.right, y}, Anchor::end}},
               {step_label(report_, report_.timeline.size() - 1)}, style);
  }

  // Draws the legend; returns the baseline of its last line.
  double legend() {
    std::vector<LegendEntry> entries;
    for (const MemoryKind kind : kStackOrder) {
      if (report_.inference && kind == MemoryKind::saved) continue;
      entries.push_back({name_of(kind, report_.inference), 11, [this, kind](PicturePoint at) {
                           svg_.rectangle({at.x, at.y - 6}, 11, 11, colour_of(theme_, kind), 2);
                         }});
    }
    return draw_legend(svg_, frame_, frame_.bottom + (look_.title ? 50 : 40), theme_.dim, entries);
  }

  const PlanReport& report_;
  const Theme& theme_;
  PictureLook look_;
  Svg svg_;
  ByteAxis axis_;
  PlotFrame frame_;
  std::vector<Column> columns_;
};

}  // namespace

std::string memory_timeline_svg(const PlanReport& report, const PictureLook& look) {
  return TimelinePicture(report, look).draw();
}

}  // namespace recut::gui

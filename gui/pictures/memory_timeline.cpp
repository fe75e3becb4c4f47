#include "gui/pictures/memory_timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/pictures/axis.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr double kMemoryTimelineWidth = 1200, kMemoryTimelineHeight = 520;
constexpr double kMemoryTimelineLeft = 84, kMemoryTimelineRight = 1172, kMemoryTimelineTop = 96,
                 kMemoryTimelineBottom = 440;
constexpr std::size_t kMostColumns =
    1200;  // one a pixel: more steps share a column, which shows their greatest

// A run of steps drawn as one column: the bytes of its greatest step.
struct Column {
  std::array<std::int64_t, kMemoryKinds> bytes = {};
  std::size_t first_step = 0;
};

std::vector<Column> columns_of(const std::vector<TimelineStep>& steps) {
  const std::size_t count = std::min(steps.size(), kMostColumns);
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
  TimelinePicture(const PlanReport& report, const Theme& theme)
      : report_(report),
        theme_(theme),
        svg_(kMemoryTimelineWidth, kMemoryTimelineHeight, theme.panel),
        columns_(columns_of(report.timeline)) {
    most_ = std::max<std::int64_t>({report.peak_bytes, report.peak_bytes_unplanned, 1});
  }

  std::string draw() && {
    heading();
    axis();
    if (!columns_.empty()) {
      areas();
      border();
      unplanned();
      peak();
    }
    legend();
    return std::move(svg_).finish();
  }

 private:
  double x_of(double step) const {
    return kMemoryTimelineLeft +
           (kMemoryTimelineRight - kMemoryTimelineLeft) * step /
               std::max<double>(1, static_cast<double>(report_.timeline.size()));
  }
  double y_of(std::int64_t bytes) const {
    return kMemoryTimelineBottom - (kMemoryTimelineBottom - kMemoryTimelineTop) *
                                       static_cast<double>(bytes) /
                                       (1.06 * static_cast<double>(most_));
  }

  void heading() {
    svg_.text({24, 34}, "Memory", {theme_.text, 16, 600});
    svg_.text({100, 34},
              fmt::format("{} · {} · strategy {}, budget {}", report_.model, "in program order",
                          report_.strategy, report_.budget),
              {theme_.dim, 13});
    svg_.text(
        {24, 60},
        fmt::format("peak {}{} · saved {} in {} storages · recomputed {} in {} runs",
                    format_bytes(report_.peak_bytes), arena(), format_bytes(report_.saved_bytes),
                    format_count(report_.saved_storages()), format_micros(report_.recompute_us),
                    format_count(report_.recomputed_runs)),
        {theme_.text, 12, 400, Anchor::start, true});
  }

  std::string arena() const {
    return report_.arena_differs() ? " · arena " + format_bytes(report_.arena_bytes) : "";
  }

  void axis() {
    const std::int64_t tick = byte_tick(most_, 6);
    for (std::int64_t at = 0; y_of(at) >= kMemoryTimelineTop - 1; at += tick) {
      svg_.line({kMemoryTimelineLeft, y_of(at)}, {kMemoryTimelineRight, y_of(at)}, theme_.line, 1,
                at == 0 ? "" : "2 4");
      svg_.text({kMemoryTimelineLeft - 10, y_of(at) + 4}, byte_label(at),
                {theme_.faint, 11, 400, Anchor::end, true});
    }
  }

  // Kinds from the one that lasts longest, at the bottom, to the one that comes and goes.
  void areas() {
    static constexpr MemoryKind kOrder[] = {MemoryKind::saved, MemoryKind::result,
                                            MemoryKind::recomputed, MemoryKind::temporary};
    std::vector<std::int64_t> floor(columns_.size(), 0);
    for (const MemoryKind kind : kOrder) {
      std::vector<PicturePoint> upper, lower;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const double left = x_of(static_cast<double>(columns_[c].first_step));
        const double right = c + 1 < columns_.size()
                                 ? x_of(static_cast<double>(columns_[c + 1].first_step))
                                 : kMemoryTimelineRight;
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

  void border() {
    const auto forward = static_cast<double>(report_.forward_runs);
    const double x = x_of(forward);
    svg_.line({x, kMemoryTimelineTop - 14}, {x, kMemoryTimelineBottom}, theme_.dim, 1, "3 3");
    svg_.text({x - 8, kMemoryTimelineTop - 6}, "forward", {theme_.dim, 12, 400, Anchor::end});
    svg_.text({x + 8, kMemoryTimelineTop - 6}, "backward", {theme_.dim, 12});
  }

  void unplanned() {
    if (report_.peak_bytes_unplanned <= report_.peak_bytes) return;
    const double y = y_of(report_.peak_bytes_unplanned);
    svg_.line({kMemoryTimelineLeft, y}, {kMemoryTimelineRight, y}, theme_.dim, 1, "6 4");
    svg_.text({kMemoryTimelineRight, y - 6},
              "nothing recomputed, in program order: " + format_bytes(report_.peak_bytes_unplanned),
              {theme_.dim, 11, 400, Anchor::end});
  }

  void peak() {
    const TimelineStep& step = report_.timeline[report_.peak_step];
    const double x = x_of(static_cast<double>(report_.peak_step) + 0.5);
    const double y = y_of(report_.peak_bytes);
    const std::string label =
        fmt::format("peak {} at {}", format_bytes(report_.peak_bytes), step.node);
    const TextStyle style{theme_.text, 12, 600};
    const bool room_right = x + 12 + text_width(label, style) < kMemoryTimelineRight;
    svg_.circle({x, y}, 4, theme_.text, theme_.panel);
    svg_.text({room_right ? x + 9 : x - 9, y - 7}, label,
              {theme_.text, 12, 600, room_right ? Anchor::start : Anchor::end});
    if (!step.module.empty()) svg_.hint({x - 6, y - 6}, 12, 12, step.module);
  }

  void legend() {
    static constexpr MemoryKind kOrder[] = {MemoryKind::saved, MemoryKind::result,
                                            MemoryKind::recomputed, MemoryKind::temporary};
    double x = kMemoryTimelineLeft;
    for (const MemoryKind kind : kOrder) {
      svg_.rectangle({x, kMemoryTimelineBottom + 40}, 11, 11, colour_of(theme_, kind), 2);
      svg_.text({x + 18, kMemoryTimelineBottom + 50}, name_of(kind), {theme_.dim, 12});
      x += 40 + text_width(name_of(kind), {theme_.dim, 12});
    }
    if (report_.timeline.empty()) return;
    svg_.text({kMemoryTimelineLeft, kMemoryTimelineBottom + 18}, step_words(report_, 0),
              {theme_.faint, 11, 400, Anchor::start, true});
    svg_.text({kMemoryTimelineRight, kMemoryTimelineBottom + 18},
              step_words(report_, report_.timeline.size() - 1),
              {theme_.faint, 11, 400, Anchor::end, true});
  }

  const PlanReport& report_;
  const Theme& theme_;
  Svg svg_;
  std::vector<Column> columns_;
  std::int64_t most_ = 1;
};

}  // namespace

std::string memory_timeline_svg(const PlanReport& report, const Theme& theme) {
  return TimelinePicture(report, theme).draw();
}

}  // namespace recut::gui

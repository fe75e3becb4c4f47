// The trade-off as SVG: time for recomputation over peak memory. Recut's plans are a staircase, as
// a plan serves every budget from its peak up to the next one's; the shaded area below it is proved
// impossible; PyTorch's plans are crosses joined in the order of their budgets, so that a smaller
// budget with a larger peak shows. Marks and lines are drawn before the first label, so that labels
// avoid them.
#include "gui/pictures/trade_off_curve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/pictures/axis.h"
#include "gui/pictures/plot_frame.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr PlotMargins kTradeOffMargins{92, 84, 100};
constexpr double kTradeOffHeight = 396;                // of the axes
constexpr double kBytesRoom = 1.05, kTimeRoom = 1.12;  // beyond the last point
constexpr double kCross = 4.5;

// A tick of an axis: its position, in the axis' unit, and its label.
struct TradeOffTick {
  double at = 0;
  std::string text;
};

class TradeOffPicture {
 public:
  TradeOffPicture(const CurveReport& report, const PictureLook& look)
      : report_(report), theme_(*look.theme), look_(look), svg_(look, look.theme->panel) {
    for (const auto* points : {&report.points, &report.torch})
      for (const CurvePoint& point : *points) {
        most_bytes_ = std::max(most_bytes_, point.peak_bytes);
        most_time_ = std::max(most_time_, point.recompute_us);
      }
    frame_ = plot_frame(look, kTradeOffMargins, kTradeOffHeight, tight());
  }

  std::string draw() && {
    if (look_.title) heading();
    axes();
    svg_.keep_labels_in(frame_.around());
    // Marks that labels keep clear of are drawn before the first label.
    if (!report_.points.empty()) {
      impossible();
      curve();
    }
    torch();
    if (!report_.points.empty()) {
      ends();
      proved();
    }
    fractions();
    const double last = legend();
    return std::move(svg_).finish({0, 0, frame_.width, last + (look_.title ? 36 : 14)},
                                  "Trade-off of " + report_.model);
  }

 private:
  // The margins that just hold the labels beside the axes.
  PlotMargins tight() const {
    std::vector<std::string> times, shares;
    for (const TradeOffTick& tick : time_ticks()) times.push_back(tick.text);
    for (const TradeOffTick& tick : percent_ticks()) shares.push_back(tick.text);
    return {widest(times, tick_style(Anchor::end)) + 18,
            widest(shares, tick_style(Anchor::start)) + 20, 34};
  }
  TextStyle tick_style(Anchor anchor) const { return {theme_.faint, 11, 400, anchor, true}; }

  std::vector<TradeOffTick> time_ticks() const {
    const double step = time_tick(most_time_, 6);
    std::vector<TradeOffTick> ticks;
    for (int k = 0; k * step <= kTimeRoom * most_time_; ++k)
      ticks.push_back({k * step, "+" + time_label(k * step)});
    return ticks;
  }
  std::vector<TradeOffTick> percent_ticks() const {
    std::vector<TradeOffTick> ticks;
    if (report_.once_us <= 0) return ticks;
    const double percent = report_.once_us / 100, step = time_tick(most_time_ / percent, 6);
    for (int k = 0; k * step * percent <= kTimeRoom * most_time_; ++k)
      ticks.push_back({k * step * percent, fmt::format("+{:g} %", k * step)});
    return ticks;
  }

  double x_of(std::int64_t bytes) const {
    return frame_.across(static_cast<double>(bytes) /
                         (kBytesRoom * static_cast<double>(most_bytes_)));
  }
  double y_of(double extra) const { return frame_.up(extra / (kTimeRoom * most_time_)); }
  PicturePoint position_of(const CurvePoint& point) const {
    return {x_of(point.peak_bytes), y_of(point.recompute_us)};
  }

  void heading() {
    const TextStyle title{theme_.text, 16, 600}, small{theme_.dim, 13};
    const TextStyle figures{theme_.text, 12, 400, Anchor::start, true};
    svg_.text({24, 34}, "Trade-off", title);
    const double x = 24 + text_width("Trade-off", title) + 12;
    const std::string model = report_.model.empty() ? "graph" : report_.model;
    svg_.text({x, 34},
              fitted(fmt::format("{} · peak memory against the time of a {}", model, step_word()),
                     small, frame_.width - 24 - x),
              small);
    if (report_.points.empty()) return;
    const std::string text = fmt::format(
        "least peak {} · nothing recomputed, in the best order {} · a {} without recomputation {}",
        format_bytes(report_.points.front().peak_bytes),
        format_bytes(report_.points.back().peak_bytes), step_word(),
        format_micros(report_.once_us));
    svg_.text({24, 60}, fitted(text, figures, frame_.width - 48), figures);
  }

  // Bytes below; at the left the time of recomputation, at the right that in percent of a step.
  void axes() {
    const double room = (frame_.right - frame_.left) / 90;  // labels that stand side by side
    const std::int64_t tick =
        byte_tick(most_bytes_, std::clamp<std::int64_t>(std::llround(room), 2, 10));
    for (std::int64_t at = 0; x_of(at) <= frame_.right + 1; at += tick) {
      const double x = x_of(at);
      svg_.line({x, frame_.top}, {x, frame_.bottom}, theme_.line, 1, at == 0 ? "" : "2 4");
      svg_.label({{{x, frame_.bottom + 18}, Anchor::middle}}, {byte_label(at)},
                 tick_style(Anchor::middle));
    }
    for (const TradeOffTick& t : time_ticks()) {
      const double y = y_of(t.at);
      svg_.line({frame_.left, y}, {frame_.right, y}, theme_.line, 1, t.at == 0 ? "" : "2 4");
      svg_.text({frame_.left - 10, y + 4}, t.text, tick_style(Anchor::end));
    }
    for (const TradeOffTick& t : percent_ticks()) {
      const double y = y_of(t.at);
      svg_.line({frame_.right, y}, {frame_.right + 5, y}, theme_.faint);
      svg_.text({frame_.right + 12, y + 4}, t.text, tick_style(Anchor::start));
    }
    const TextStyle style{theme_.dim, 11};
    svg_.text({look_.title ? 24.0 : 8.0, frame_.top - 14}, "time for recomputation", style);
    svg_.label({{{frame_.right, frame_.bottom + 36}, Anchor::end}},
               {std::string("peak memory of the ") + step_word()}, style);
  }

  double wall() const { return std::max(frame_.left, x_of(report_.peak_bound_bytes)); }

  // No order peaks below the bound; and within a budget none recomputes for less than its proved
  // bound, or that of any larger one.
  void impossible() {
    std::vector<PicturePoint> edge{{wall(), frame_.top}};
    double x = wall();
    for (const CurvePoint& point : report_.points) {
      const double y = y_of(point.recompute_bound_us);
      edge.push_back({x, y});
      x = std::max(x, x_of(point.budget_bytes));
      edge.push_back({x, y});
    }
    edge.push_back({x, frame_.bottom});
    std::vector<PicturePoint> area{{frame_.left, frame_.top}};
    area.insert(area.end(), edge.begin(), edge.end());
    area.push_back({frame_.left, frame_.bottom});
    svg_.polygon(area, theme_.conflict, 0.09);
    svg_.polyline(edge, theme_.conflict, 1);
    lines(edge);
  }

  // Names the area in its corner, on two lines where it is slim.
  void proved() {
    const TextStyle style{theme_.conflict, 12};
    const double x = frame_.left + 10, room = wall() - frame_.left - 16;
    if (text_width("proved impossible", style) <= room) {
      svg_.label({{{x, frame_.top + 20}, Anchor::start}}, {"proved impossible"}, style);
    } else if (text_width("impossible", style) <= room) {
      svg_.label({{{x, frame_.top + 20}, Anchor::start}}, {"proved"}, style);
      svg_.label({{{x, frame_.top + 36}, Anchor::start}}, {"impossible"}, style);
    }
  }

  // Keeps labels off the lines if there are places beside them.
  void lines(const std::vector<PicturePoint>& points) {
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      svg_.keep_clear_if_possible(points[i], points[i + 1]);
  }

  // Draws the curve in steps: a plan serves every budget from its peak to the next plan's.
  void curve() {
    std::vector<PicturePoint> line{{x_of(report_.points.front().peak_bytes), frame_.top}};
    for (const CurvePoint& point : report_.points) {
      const PicturePoint at = position_of(point);
      line.push_back({at.x, line.back().y});
      line.push_back(at);
    }
    line.push_back({frame_.right, line.back().y});
    line.front().y = position_of(report_.points.front()).y;
    const PicturePoint above{line.front().x, frame_.top};
    svg_.line(above, line.front(), theme_.selection, 1.5, "4 4");
    svg_.polyline(line, theme_.selection, 2);
    lines(line);
    lines({above, line.front()});
    PicturePoint dot{-1e9, -1e9};
    for (const CurvePoint& point : report_.points) {
      if (apart(dot, position_of(point))) {
        dot = position_of(point);
        svg_.circle(dot, 2.5, theme_.selection, theme_.panel);
      }
      keep_clear(position_of(point), 4);
      svg_.hint({position_of(point).x - 5, position_of(point).y - 5}, 10, 10, point_label(point));
    }
  }

  // True if the line between two dots is visible; else one of them is left out.
  static bool apart(PicturePoint a, PicturePoint b) {
    return std::abs(a.x - b.x) + std::abs(a.y - b.y) > 9;
  }

  void keep_clear(PicturePoint p, double r) {
    svg_.keep_clear({p.x - r, p.y - r, p.x + r, p.y + r});
  }

  const char* step_word() const { return report_.inference ? "call" : "step"; }

  std::string point_label(const CurvePoint& point) const {
    const std::string label =
        fmt::format("peak {}, {} recomputed, {} {}", format_bytes(point.peak_bytes),
                    format_micros(point.recompute_us), step_word(), format_micros(point.step_us));
    return report_.inference ? label : label + ", saved " + format_bytes(point.saved_bytes);
  }

  void ends() {
    const CurvePoint &least = report_.points.front(), &most = report_.points.back();
    for (const CurvePoint* end : {&least, &most}) {
      svg_.circle(position_of(*end), 5, theme_.selection, theme_.text);
      keep_clear(position_of(*end), 6);
    }
    end_label(position_of(least), {"least peak " + format_bytes(least.peak_bytes), "least peak"},
              fmt::format("+{}", format_micros(least.recompute_us)));
    if (report_.points.size() == 1) return;
    end_label(position_of(most), {"nothing recomputed, best order", "nothing recomputed"},
              fmt::format("{} in {}", format_bytes(most.peak_bytes), format_micros(most.step_us)));
  }

  // Two lines of text beside an end of the curve, on a free side; the shorter texts if the longer
  // ones don't fit.
  void end_label(PicturePoint at, const std::vector<std::string>& text, const std::string& more) {
    for (const bool strictly : {true, false})
      for (const std::string& first : text)
        for (const double dy : {-28.0, -46.0, 20.0, -64.0, -90.0, 38.0})
          for (const Anchor side : {Anchor::start, Anchor::end, Anchor::middle}) {
            const double dx = side == Anchor::start ? 9 : side == Anchor::end ? -9 : 0;
            if (two_lines({at.x + dx, at.y + dy}, first, more, side, strictly)) return;
          }
  }

  bool two_lines(PicturePoint at, const std::string& first, const std::string& second, Anchor side,
                 bool strictly) {
    const TextStyle strong{theme_.text, 12, 600, side};
    const TextStyle small{theme_.dim, 11, 400, side, true};
    const PicturePoint below{at.x, at.y + 16};
    const LabelBox a = text_box(at, first, strong), b = text_box(below, second, small);
    const LabelBox both{std::min(a.left, b.left), a.top, std::max(a.right, b.right), b.bottom};
    if (!both.inside(frame_.area()) || !svg_.is_free(both, strictly)) return false;
    svg_.text(at, first, strong);
    svg_.text(below, second, small);
    return true;
  }

  // Draws PyTorch's points, joined in the order of budgets, so that a smaller budget with a larger
  // peak shows.
  void torch() {
    std::vector<PicturePoint> line;
    for (const CurvePoint& point : report_.torch) line.push_back(position_of(point));
    if (line.size() > 1) svg_.polyline(line, theme_.conflict, 1, "2 4");
    lines(line);
    for (std::size_t i = 0; i < line.size(); ++i) {
      cross(line[i]);
      keep_clear(line[i], kCross + 1);
      svg_.hint(
          {line[i].x - 6, line[i].y - 6}, 12, 12,
          fmt::format("budget {}: {}", report_.torch[i].fraction, point_label(report_.torch[i])));
    }
  }

  // Labels each cross with its fraction, if there is a free position.
  void fractions() {
    for (const CurvePoint& point : report_.torch) {
      const PicturePoint p = position_of(point);
      svg_.label({{{p.x, p.y - 10}, Anchor::middle},
                  {{p.x + 9, p.y + 4}, Anchor::start},
                  {{p.x - 9, p.y + 4}, Anchor::end},
                  {{p.x, p.y + 18}, Anchor::middle},
                  {{p.x + 7, p.y - 8}, Anchor::start},
                  {{p.x - 7, p.y - 8}, Anchor::end}},
                 {fmt::format("{}", point.fraction)},
                 {theme_.conflict, 11, 400, Anchor::start, true}, true);
    }
  }

  void cross(PicturePoint p) {
    svg_.line({p.x - kCross, p.y - kCross}, {p.x + kCross, p.y + kCross}, theme_.conflict, 1.8);
    svg_.line({p.x - kCross, p.y + kCross}, {p.x + kCross, p.y - kCross}, theme_.conflict, 1.8);
  }

  // Draws the legend; returns the baseline of its last line.
  double legend() {
    std::vector<LegendEntry> entries;
    entries.push_back(
        {fmt::format("Recut, {} budgets", report_.points.size()), 22, [this](PicturePoint at) {
           svg_.line(at, {at.x + 22, at.y}, theme_.selection, 2);
           svg_.circle({at.x + 11, at.y}, 2.5, theme_.selection, theme_.panel);
         }});
    if (!report_.torch.empty())
      entries.push_back(
          {report_.torch_recorded
               ? "PyTorch's partitions, by its budget"
               : fmt::format("as PyTorch partitions (strategy torch{}{}), by its budget",
                             report_.torch_settings.empty() ? "" : ", ",
                             fmt::join(report_.torch_settings, " ")),
           10, [this](PicturePoint at) {
             cross({at.x + 5, at.y});
           }});
    entries.push_back({"proved: no plan is there", 20, [this](PicturePoint at) {
                         svg_.rectangle({at.x, at.y - 6}, 20, 11, theme_.conflict, 0, 0.14);
                         svg_.line({at.x, at.y - 6}, {at.x + 20, at.y - 6}, theme_.conflict, 1);
                       }});
    return draw_legend(svg_, frame_, frame_.bottom + (look_.title ? 68 : 58), theme_.dim, entries);
  }

  const CurveReport& report_;
  const Theme& theme_;
  PictureLook look_;
  Svg svg_;
  std::int64_t most_bytes_ = 1;
  double most_time_ = 1e-3;
  PlotFrame frame_;
};

}  // namespace

std::string trade_off_svg(const CurveReport& report, const PictureLook& look) {
  return TradeOffPicture(report, look).draw();
}

}  // namespace recut::gui

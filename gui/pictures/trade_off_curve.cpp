#include "gui/pictures/trade_off_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/pictures/axis.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr double kTradeOffCurveWidth = 1200, kTradeOffCurveHeight = 600;
constexpr double kTradeOffCurveLeft = 92, kTradeOffCurveRight = 1116, kTradeOffCurveTop = 100,
                 kTradeOffCurveBottom = 496;
constexpr double kCross = 4.5;

struct TradeOffCurveBox {
  double left, top, right, bottom;
  bool meets(const TradeOffCurveBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

class TradeOffPicture {
 public:
  TradeOffPicture(const CurveReport& report, const Theme& theme)
      : report_(report),
        theme_(theme),
        svg_(kTradeOffCurveWidth, kTradeOffCurveHeight, theme.panel) {
    for (const auto* points : {&report.points, &report.torch})
      for (const CurvePoint& point : *points) {
        most_bytes_ = std::max(most_bytes_, point.peak_bytes);
        most_time_ = std::max(most_time_, point.recompute_us);
      }
  }

  std::string draw() && {
    heading();
    axes();
    if (!report_.points.empty()) {
      impossible();
      curve();
      ends();
    }
    torch();
    legend();
    return std::move(svg_).finish();
  }

 private:
  double x_of(std::int64_t bytes) const {
    return kTradeOffCurveLeft + (kTradeOffCurveRight - kTradeOffCurveLeft) *
                                    static_cast<double>(bytes) /
                                    (1.05 * static_cast<double>(most_bytes_));
  }
  double y_of(double extra) const {
    return kTradeOffCurveBottom -
           (kTradeOffCurveBottom - kTradeOffCurveTop) * extra / (1.12 * most_time_);
  }
  PicturePoint place(const CurvePoint& point) const {
    return {x_of(point.peak_bytes), y_of(point.recompute_us)};
  }

  void heading() {
    const std::string model = report_.model.empty() ? "graph" : report_.model;
    svg_.text({24, 34}, "Trade-off", {theme_.text, 16, 600});
    svg_.text({112, 34}, model + " · peak memory against the time of a step", {theme_.dim, 13});
    if (report_.points.empty()) return;
    svg_.text(
        {24, 60},
        fmt::format("least peak {} · nothing recomputed, in the best order {} · a step without "
                    "recomputation {}",
                    format_bytes(report_.points.front().peak_bytes),
                    format_bytes(report_.points.back().peak_bytes), format_micros(report_.once_us)),
        {theme_.text, 12, 400, Anchor::start, true});
  }

  // Bytes below; at the left what recomputation adds, at the right that in percent of a step.
  void axes() {
    const std::int64_t tick = byte_tick(most_bytes_, 10);
    for (std::int64_t at = 0; x_of(at) <= kTradeOffCurveRight + 1; at += tick) {
      svg_.line({x_of(at), kTradeOffCurveTop}, {x_of(at), kTradeOffCurveBottom}, theme_.line, 1,
                at == 0 ? "" : "2 4");
      svg_.text({x_of(at), kTradeOffCurveBottom + 18}, byte_label(at),
                {theme_.faint, 11, 400, Anchor::middle, true});
    }
    const double step = time_tick(most_time_, 6);
    for (int k = 0; y_of(k * step) >= kTradeOffCurveTop - 1; ++k) {
      const double y = y_of(k * step);
      svg_.line({kTradeOffCurveLeft, y}, {kTradeOffCurveRight, y}, theme_.line, 1,
                k == 0 ? "" : "2 4");
      svg_.text({kTradeOffCurveLeft - 10, y + 4}, "+" + time_label(k * step),
                {theme_.faint, 11, 400, Anchor::end, true});
    }
    percents();
    svg_.text({24, kTradeOffCurveTop - 12}, "time for recomputation", {theme_.dim, 11});
    svg_.text({kTradeOffCurveRight, kTradeOffCurveBottom + 36}, "peak memory of the step",
              {theme_.dim, 11, 400, Anchor::end});
  }

  void percents() {
    if (report_.once_us <= 0) return;
    const double per_percent = report_.once_us / 100;
    const double step = time_tick(most_time_ / per_percent, 6);
    for (int k = 0; y_of(k * step * per_percent) >= kTradeOffCurveTop - 1; ++k) {
      const double y = y_of(k * step * per_percent);
      svg_.line({kTradeOffCurveRight, y}, {kTradeOffCurveRight + 5, y}, theme_.faint);
      svg_.text({kTradeOffCurveRight + 12, y + 4}, fmt::format("+{:g} %", k * step),
                {theme_.faint, 11, 400, Anchor::start, true});
    }
  }

  // No order peaks below the bound; and within a budget none recomputes for less than what is
  // proved of it, or of any larger one.
  void impossible() {
    const double wall = std::max(kTradeOffCurveLeft, x_of(report_.peak_bound_bytes));
    std::vector<PicturePoint> edge{{wall, kTradeOffCurveTop}};
    double x = wall;
    for (const CurvePoint& point : report_.points) {
      const double y = y_of(point.recompute_bound_us);
      edge.push_back({x, y});
      x = std::max(x, x_of(point.budget_bytes));
      edge.push_back({x, y});
    }
    edge.push_back({x, kTradeOffCurveBottom});
    std::vector<PicturePoint> area{{kTradeOffCurveLeft, kTradeOffCurveTop}};
    area.insert(area.end(), edge.begin(), edge.end());
    area.push_back({kTradeOffCurveLeft, kTradeOffCurveBottom});
    svg_.polygon(area, theme_.conflict, 0.09);
    svg_.polyline(edge, theme_.conflict, 1);
    const TextStyle style{theme_.conflict, 12};
    if (wall - kTradeOffCurveLeft < 76) return;
    const bool wide = wall - kTradeOffCurveLeft > text_width("proved impossible", style) + 20;
    svg_.text({kTradeOffCurveLeft + 10, kTradeOffCurveTop + 20},
              wide ? "proved impossible" : "proved", style);
    if (!wide) svg_.text({kTradeOffCurveLeft + 10, kTradeOffCurveTop + 36}, "impossible", style);
    taken_.push_back({kTradeOffCurveLeft, kTradeOffCurveTop, wall, kTradeOffCurveTop + 40});
  }

  // A plan serves every budget from its peak to where the next one begins.
  void curve() {
    std::vector<PicturePoint> line{{x_of(report_.points.front().peak_bytes), kTradeOffCurveTop}};
    for (const CurvePoint& point : report_.points) {
      const PicturePoint at = place(point);
      line.push_back({at.x, line.back().y});
      line.push_back(at);
    }
    line.push_back({kTradeOffCurveRight, line.back().y});
    line.front().y = place(report_.points.front()).y;
    svg_.line({line.front().x, kTradeOffCurveTop}, line.front(), theme_.selection, 1.5, "4 4");
    svg_.polyline(line, theme_.selection, 2);
    for (const CurvePoint& point : report_.points) {
      svg_.circle(place(point), 2.5, theme_.selection, theme_.panel);
      taken_.push_back(around(place(point), 4));
      svg_.hint({place(point).x - 5, place(point).y - 5}, 10, 10, words_of(point));
    }
  }

  static TradeOffCurveBox around(PicturePoint p, double r) {
    return {p.x - r, p.y - r, p.x + r, p.y + r};
  }

  static std::string words_of(const CurvePoint& point) {
    return fmt::format("peak {}, {} recomputed, step {}, saved {}", format_bytes(point.peak_bytes),
                       format_micros(point.recompute_us), format_micros(point.step_us),
                       format_bytes(point.saved_bytes));
  }

  void ends() {
    const CurvePoint &least = report_.points.front(), &most = report_.points.back();
    end_mark(place(least), true, "least peak " + format_bytes(least.peak_bytes),
             fmt::format("+{}", format_micros(least.recompute_us)));
    if (report_.points.size() == 1) return;
    end_mark(place(most), false, "nothing recomputed, best order",
             fmt::format("{} in {}", format_bytes(most.peak_bytes), format_micros(most.step_us)));
  }

  // Two lines of words beside an end of the curve, on the side that is free.
  void end_mark(PicturePoint at, bool right, const std::string& what, const std::string& how_much) {
    const TextStyle style{theme_.text, 12, 600, right ? Anchor::start : Anchor::end};
    const double x = right ? at.x + 9 : at.x - 6, y = at.y - (right ? 28 : 44);
    svg_.circle(at, 5, theme_.selection, theme_.text);
    svg_.text({x, y}, what, style);
    svg_.text({x, y + 16}, how_much, {theme_.dim, 11, 400, style.anchor, true});
    const double width = text_width(what, style);
    taken_.push_back({right ? x : x - width, y - 12, right ? x + width : x, y + 20});
  }

  // Joined in the order of the budgets, so that a smaller budget with a larger peak shows.
  void torch() {
    std::vector<PicturePoint> line;
    for (const CurvePoint& point : report_.torch) line.push_back(place(point));
    if (line.size() > 1) svg_.polyline(line, theme_.conflict, 1, "2 4");
    for (std::size_t i = 0; i < line.size(); ++i) {
      cross(line[i]);
      taken_.push_back(around(line[i], kCross + 1));
      svg_.hint(
          {line[i].x - 6, line[i].y - 6}, 12, 12,
          fmt::format("budget {}: {}", report_.torch[i].fraction, words_of(report_.torch[i])));
    }
    for (std::size_t i = 0; i < line.size(); ++i)
      label_near(line[i], fmt::format("{}", report_.torch[i].fraction));
  }

  void cross(PicturePoint p) {
    svg_.line({p.x - kCross, p.y - kCross}, {p.x + kCross, p.y + kCross}, theme_.conflict, 1.8);
    svg_.line({p.x - kCross, p.y + kCross}, {p.x + kCross, p.y - kCross}, theme_.conflict, 1.8);
  }

  // To the right, to the left, above or below: where nothing else stands, else nowhere.
  void label_near(PicturePoint p, const std::string& label) {
    const TextStyle style{theme_.conflict, 11, 400, Anchor::start, true};
    const double w = text_width(label, style);
    for (const PicturePoint at :
         {PicturePoint{p.x + 9, p.y + 4}, PicturePoint{p.x - 9 - w, p.y + 4},
          PicturePoint{p.x - w / 2, p.y - 9}, PicturePoint{p.x - w / 2, p.y + 18}}) {
      const TradeOffCurveBox box{at.x, at.y - 9, at.x + w, at.y + 1};
      if (box.right > kTradeOffCurveRight || box.top < kTradeOffCurveTop ||
          box.bottom > kTradeOffCurveBottom)
        continue;
      if (std::any_of(taken_.begin(), taken_.end(),
                      [&](const TradeOffCurveBox& b) { return b.meets(box); }))
        continue;
      svg_.text(at, label, style);
      taken_.push_back(box);
      return;
    }
  }

  void legend() {
    const double y = kTradeOffCurveBottom + 64;
    const TextStyle style{theme_.dim, 12};
    double x = kTradeOffCurveLeft;
    svg_.line({x, y}, {x + 22, y}, theme_.selection, 2);
    svg_.circle({x + 11, y}, 2.5, theme_.selection, theme_.panel);
    const std::string ours = fmt::format("Recut, {} budgets", report_.points.size());
    svg_.text({x + 30, y + 4}, ours, style);
    x += 62 + text_width(ours, style);
    if (!report_.torch.empty()) {
      cross({x + 5, y});
      const std::string theirs = report_.torch_recorded
                                     ? "PyTorch's partitions, by its budget"
                                     : "as PyTorch partitions (strategy torch), by its budget";
      svg_.text({x + 18, y + 4}, theirs, style);
      x += 50 + text_width(theirs, style);
    }
    svg_.rectangle({x, y - 6}, 20, 11, theme_.conflict, 0, 0.14);
    svg_.line({x, y - 6}, {x + 20, y - 6}, theme_.conflict, 1);
    svg_.text({x + 28, y + 4}, "proved: no plan is there", style);
  }

  const CurveReport& report_;
  const Theme& theme_;
  Svg svg_;
  std::int64_t most_bytes_ = 1;
  double most_time_ = 1e-3;
  std::vector<TradeOffCurveBox> taken_;  // where labels may not stand
};

}  // namespace

std::string trade_off_svg(const CurveReport& report, const Theme& theme) {
  return TradeOffPicture(report, theme).draw();
}

}  // namespace recut::gui

#include "gui/pictures/loss_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/pictures/axis.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr double kLossCurveWidth = 1000, kLossCurveHeight = 460;
constexpr double kLossCurveLeft = 84, kLossCurveRight = 968, kLossCurveTop = 84,
                 kLossCurveBottom = 400;

class LossPicture {
 public:
  LossPicture(const LossCurve& curve, const Theme& theme)
      : curve_(curve), theme_(theme), svg_(kLossCurveWidth, kLossCurveHeight, theme.panel) {
    bool any = false;
    for (const double loss : curve.losses) {
      if (!std::isfinite(loss)) continue;
      most_ = any ? std::max(most_, loss) : loss;
      least_ = std::min(least_, loss);
      any = true;
    }
    if (!(most_ > least_)) most_ = least_ + 1;
  }

  std::string draw() && {
    heading();
    axes();
    if (curve_.pass > 1) svg_.polyline(steps(), mix(theme_.panel, theme_.selection, 0.45), 1);
    svg_.polyline(passes(), theme_.selection, 2);
    return std::move(svg_).finish();
  }

 private:
  double x_of(double step) const {
    const double last = std::max<double>(1, static_cast<double>(curve_.losses.size()) - 1);
    return kLossCurveLeft + (kLossCurveRight - kLossCurveLeft) * step / last;
  }
  double y_of(double loss) const {
    return kLossCurveBottom -
           (kLossCurveBottom - kLossCurveTop) * (loss - least_) / (1.05 * (most_ - least_));
  }

  void heading() {
    svg_.text({24, 34}, "Loss", {theme_.text, 16, 600});
    svg_.text({72, 34}, (curve_.model.empty() ? "graph" : curve_.model) + " · " + curve_.optimizer,
              {theme_.dim, 13});
    if (curve_.losses.empty()) return;
    svg_.text(
        {24, 60},
        fmt::format("{:.4g} at first, {:.4g} at last", curve_.losses.front(), curve_.losses.back()),
        {theme_.text, 12, 400, Anchor::start, true});
  }

  // Steps below, losses at the left: from 0, or from below where a loss is negative.
  void axes() {
    const double rise = time_tick(most_ - least_, 6);
    for (double k = std::ceil(least_ / rise); y_of(k * rise) >= kLossCurveTop - 1; ++k)
      level(k * rise, k == 0 || least_ == k * rise);
    const double last = std::max<double>(1, static_cast<double>(curve_.losses.size()) - 1);
    const double stride = std::max(1.0, time_tick(last, 10));
    for (double step = 0; step <= last; step += stride)
      svg_.text({x_of(step), kLossCurveBottom + 18}, fmt::format("{:g}", step),
                {theme_.faint, 11, 400, Anchor::middle, true});
    svg_.text({kLossCurveRight, kLossCurveBottom + 38}, "step", {theme_.dim, 11, 400, Anchor::end});
  }

  void level(double loss, bool whole) {
    svg_.line({kLossCurveLeft, y_of(loss)}, {kLossCurveRight, y_of(loss)}, theme_.line, 1,
              whole ? "" : "2 4");
    svg_.text({kLossCurveLeft - 10, y_of(loss) + 4}, fmt::format("{:g}", loss),
              {theme_.faint, 11, 400, Anchor::end, true});
  }

  std::vector<PicturePoint> steps() const {
    std::vector<PicturePoint> line;
    for (std::size_t i = 0; i < curve_.losses.size(); ++i)
      if (std::isfinite(curve_.losses[i]))
        line.push_back({x_of(static_cast<double>(i)), y_of(curve_.losses[i])});
    return line;
  }

  // The mean of each pass at its middle; the last pass may be cut short.
  std::vector<PicturePoint> passes() const {
    std::vector<PicturePoint> line;
    for (std::size_t first = 0; first < curve_.losses.size(); first += curve_.pass) {
      const std::size_t end = std::min(curve_.losses.size(), first + curve_.pass);
      double sum = 0;
      for (std::size_t i = first; i < end; ++i) sum += curve_.losses[i];
      const double middle = static_cast<double>(first + end - 1) / 2;
      const double mean = sum / static_cast<double>(end - first);
      if (std::isfinite(mean)) line.push_back({x_of(middle), y_of(mean)});
    }
    return line;
  }

  const LossCurve& curve_;
  const Theme& theme_;
  Svg svg_;
  double least_ = 0, most_ = 0;
};

}  // namespace

std::string loss_curve_svg(const LossCurve& curve, const Theme& theme) {
  return LossPicture(curve, theme).draw();
}

}  // namespace recut::gui

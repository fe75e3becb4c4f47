#include "gui/pictures/loss_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/pictures/axis.h"
#include "gui/pictures/plot_frame.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr PlotMargins kLossMargins{84, 32, 84};
constexpr double kLossHeight = 316;  // of the axes
constexpr double kLossRoom = 1.05;   // above the highest loss

class LossPicture {
 public:
  LossPicture(const LossCurve& curve, const PictureLook& look)
      : curve_(curve), theme_(*look.theme), look_(look), svg_(look, look.theme->panel) {
    bool any = false;
    for (const double loss : curve.losses) {
      if (!std::isfinite(loss)) continue;
      most_ = any ? std::max(most_, loss) : loss;
      least_ = std::min(least_, loss);
      any = true;
    }
    if (!(most_ > least_)) most_ = least_ + 1;
    std::vector<std::string> labels;
    for (const double loss : levels()) labels.push_back(fmt::format("{:g}", loss));
    frame_ = plot_frame(look, kLossMargins, kLossHeight,
                        {widest(labels, tick_style(Anchor::end)) + 18, 16, 28});
  }

  std::string draw() && {
    if (look_.title) heading();
    axes();
    if (curve_.pass > 1) svg_.polyline(steps(), mix(theme_.panel, theme_.selection, 0.45), 1);
    svg_.polyline(passes(), theme_.selection, 2);
    return std::move(svg_).finish({0, 0, frame_.width, frame_.bottom + 60},
                                  "Loss of " + curve_.model);
  }

 private:
  TextStyle tick_style(Anchor anchor) const { return {theme_.faint, 11, 400, anchor, true}; }
  double last() const { return std::max<double>(1, static_cast<double>(curve_.losses.size()) - 1); }
  double x_of(double step) const { return frame_.across(step / last()); }
  double y_of(double loss) const {
    return frame_.up((loss - least_) / (kLossRoom * (most_ - least_)));
  }

  // The levels of the axis, from 0, or from below if a loss is negative.
  std::vector<double> levels() const {
    const double rise = time_tick(most_ - least_, 6);
    std::vector<double> found;
    for (double k = std::ceil(least_ / rise);
         (k * rise - least_) <= (kLossRoom + 0.003) * (most_ - least_); ++k)
      found.push_back(k * rise);
    return found;
  }

  void heading() {
    const TextStyle title{theme_.text, 16, 600}, small{theme_.dim, 13};
    svg_.text({24, 34}, "Loss", title);
    const double x = 24 + text_width("Loss", title) + 12;
    const std::string text =
        (curve_.model.empty() ? "graph" : curve_.model) + " · " + curve_.optimizer;
    svg_.text({x, 34}, fitted(text, small, frame_.width - 24 - x), small);
    if (curve_.losses.empty()) return;
    svg_.text(
        {24, 60},
        fmt::format("{:.4g} at first, {:.4g} at last", curve_.losses.front(), curve_.losses.back()),
        {theme_.text, 12, 400, Anchor::start, true});
  }

  // Draws the axes: steps below, losses at the left.
  void axes() {
    for (const double loss : levels()) {
      svg_.line({frame_.left, y_of(loss)}, {frame_.right, y_of(loss)}, theme_.line, 1,
                loss == 0 || loss == least_ ? "" : "2 4");
      svg_.text({frame_.left - 10, y_of(loss) + 4}, fmt::format("{:g}", loss),
                tick_style(Anchor::end));
    }
    svg_.keep_labels_in(frame_.around());
    const double stride = std::max(1.0, time_tick(last(), (frame_.right - frame_.left) / 80));
    for (double step = 0; step <= last(); step += stride)
      svg_.label({{{x_of(step), frame_.bottom + 18}, Anchor::middle}}, {fmt::format("{:g}", step)},
                 tick_style(Anchor::middle));
    svg_.label({{{frame_.right, frame_.bottom + 38}, Anchor::end}}, {"step"}, {theme_.dim, 11});
  }

  std::vector<PicturePoint> steps() const {
    std::vector<PicturePoint> line;
    for (std::size_t i = 0; i < curve_.losses.size(); ++i)
      if (std::isfinite(curve_.losses[i]))
        line.push_back({x_of(static_cast<double>(i)), y_of(curve_.losses[i])});
    return line;
  }

  // The points of the means of passes over the data, each at its middle; the last pass may be cut
  // short.
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
  PictureLook look_;
  Svg svg_;
  PlotFrame frame_;
  double least_ = 0, most_ = 0;
};

}  // namespace

std::string loss_curve_svg(const LossCurve& curve, const PictureLook& look) {
  return LossPicture(curve, look).draw();
}

}  // namespace recut::gui

// Measured memory over planned memory as SVG, on the plan's axis of steps: the plan as an area, the
// measurement as a line, both peaks marked. Both count above the bytes before the step. A trace may
// have a million events, so at most one point is drawn for each unit of width, the greatest.
#include "gui/pictures/memory_overlay.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"
#include "engine/support/units.h"
#include "gui/pictures/axis.h"
#include "gui/pictures/plot_frame.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr PlotMargins kOverlayMargins{84, 28, 96};
constexpr double kOverlayHeight = 344;  // of the axes
constexpr double kOverlayRoom = 1.08;   // above the highest value

class OverlayPicture {
 public:
  OverlayPicture(const MemoryComparison& comparison, const PictureLook& look)
      : comparison_(comparison),
        theme_(*look.theme),
        look_(look),
        svg_(look, look.theme->panel),
        axis_(std::max<std::int64_t>(
                  {comparison.planned_peak, comparison.measured_rise(), std::int64_t{1}}),
              kOverlayRoom, theme_.faint),
        frame_(plot_frame(look, kOverlayMargins, kOverlayHeight, axis_.tight())) {}

  std::string draw() && {
    if (look_.title) heading();
    axis_.draw(svg_, frame_, theme_.line);
    svg_.keep_labels_in(frame_.around());
    if (!comparison_.planned.empty()) planned();
    measured();
    boundary();
    const double planned_x = x_of(static_cast<double>(comparison_.planned_peak_step) + 0.5);
    mark({x_of(comparison_.measured_peak_step), y_of(comparison_.measured_rise())},
         "measured +" + format_bytes(comparison_.measured_rise()), -9, Anchor::end);
    if (!comparison_.planned.empty())
      mark({planned_x, y_of(comparison_.planned_peak)},
           "planned +" + format_bytes(comparison_.planned_peak), 9, Anchor::start);
    const double last = legend();
    return std::move(svg_).finish({0, 0, frame_.width, last + (look_.title ? 30 : 14)},
                                  "Measured and planned memory of " + comparison_.model);
  }

 private:
  double x_of(double step) const {
    return frame_.across(step /
                         std::max<double>(1, static_cast<double>(comparison_.planned.size())));
  }
  double y_of(std::int64_t bytes) const { return axis_.y_of(frame_, bytes); }

  void heading() {
    const TextStyle title{theme_.text, 16, 600}, small{theme_.dim, 13};
    const TextStyle figures{theme_.text, 12, 400, Anchor::start, true};
    svg_.text({24, 34}, "Measured and planned memory", title);
    const double x = 24 + text_width("Measured and planned memory", title) + 12;
    const std::string about = fmt::format("{} · {}", comparison_.model, comparison_.order);
    svg_.text({x, 34}, fitted(about, small, frame_.width - 24 - x), small);
    const std::string text =
        fmt::format("above the {} before the step · {} · device {}, step {} of {}",
                    format_bytes(comparison_.start_bytes), printable(comparison_.snapshot),
                    comparison_.device, comparison_.step, comparison_.steps);
    svg_.text({24, 60}, fitted(text, figures, frame_.width - 48), figures);
  }

  // Adds at most one point a unit of the width: the greatest of several.
  template <class Add>
  static void thin(double x, double y, std::vector<PicturePoint>& line, Add add) {
    if (!line.empty() && std::floor(line.back().x) == std::floor(x))
      line.back().y = std::min(line.back().y, y);
    else
      add();
  }

  void planned() {
    std::vector<PicturePoint> line;
    for (std::size_t i = 0; i < comparison_.planned.size(); ++i) {
      const double x = x_of(static_cast<double>(i)), y = y_of(comparison_.planned[i]);
      thin(x, y, line, [&] {
        if (!line.empty()) line.push_back({x, line.back().y});
        line.push_back({x, y});
      });
    }
    line.push_back({frame_.right, line.back().y});
    std::vector<PicturePoint> area = line;
    area.push_back({frame_.right, frame_.bottom});
    area.push_back({frame_.left, frame_.bottom});
    svg_.polygon(area, theme_.selection, 0.25);
    svg_.polyline(line, theme_.selection, 1.5);
  }

  void measured() {
    std::vector<PicturePoint> line{{x_of(0), y_of(0)}};
    for (const MemoryPoint& point : comparison_.measured) {
      const double x = x_of(point.step), y = y_of(point.bytes);
      thin(x, y, line, [&] {
        line.push_back({x, line.back().y});
        line.push_back({x, y});
      });
    }
    line.push_back({frame_.right, line.back().y});
    svg_.polyline(line, theme_.text, 1.5);
  }

  void boundary() {
    draw_phase_boundary(svg_, frame_, x_of(static_cast<double>(comparison_.forward_steps)),
                        theme_.dim);
  }

  void mark(PicturePoint at, const std::string& text, double beside, Anchor anchor) {
    svg_.circle(at, 4, theme_.text, theme_.panel);
    svg_.keep_clear({at.x - 4, at.y - 4, at.x + 4, at.y + 4});
    svg_.label({{{at.x + beside, at.y - 7}, anchor},
                {{at.x + beside, at.y + 15}, anchor},
                {{at.x, at.y - 11}, Anchor::middle},
                {{at.x, at.y + 24}, Anchor::middle}},
               {text}, {theme_.text, 12, 600});
  }

  // Draws the legend; returns the baseline of its last line.
  double legend() {
    std::vector<LegendEntry> entries;
    entries.push_back({"planned", 20, [this](PicturePoint at) {
                         svg_.rectangle({at.x, at.y - 6}, 20, 11, theme_.selection, 0, 0.25);
                         svg_.line({at.x, at.y - 6}, {at.x + 20, at.y - 6}, theme_.selection, 1.5);
                       }});
    entries.push_back({"measured", 20, [this](PicturePoint at) {
                         svg_.line(at, {at.x + 20, at.y}, theme_.text, 1.5);
                       }});
    return draw_legend(svg_, frame_, frame_.bottom + (look_.title ? 50 : 40), theme_.dim, entries);
  }

  const MemoryComparison& comparison_;
  const Theme& theme_;
  PictureLook look_;
  Svg svg_;
  ByteAxis axis_;
  PlotFrame frame_;
};

}  // namespace

std::string memory_overlay_svg(const MemoryComparison& comparison, const PictureLook& look) {
  return OverlayPicture(comparison, look).draw();
}

}  // namespace recut::gui

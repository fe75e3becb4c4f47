#include "gui/pictures/plot_frame.h"

#include <algorithm>

namespace recut::gui {
namespace {

constexpr double kMinPlotHeight = 160, kLegendLine = 20;

}  // namespace

PlotFrame plot_frame(const PictureLook& look, const PlotMargins& wide, double height,
                     const PlotMargins& tight) {
  PlotFrame frame;
  frame.width = look.width > 0 ? look.width : kPlotWidth;
  const PlotMargins& margins = frame.width < kPlotWidth ? tight : wide;
  frame.left = margins.left;
  frame.right = std::max(frame.left + 40, frame.width - margins.right);
  frame.top = look.title ? wide.top : tight.top;
  frame.bottom = frame.top + std::max(kMinPlotHeight, height * frame.width / kPlotWidth);
  return frame;
}

double widest(const std::vector<std::string>& text, const TextStyle& style) {
  double most = 0;
  for (const std::string& word : text) most = std::max(most, text_width(word, style));
  return most;
}

double draw_legend(Svg& svg, const PlotFrame& frame, double y, Colour colour,
                   const std::vector<LegendEntry>& entries) {
  const TextStyle style{colour, 12};
  const double left = frame.width < kPlotWidth ? 8 : frame.left, right = frame.width - 8;
  double x = left;
  for (const LegendEntry& entry : entries) {
    const std::string text = fitted(entry.text, style, right - left - entry.sign - 7);
    const double width = entry.sign + 7 + text_width(text, style);
    if (x > left && x + width > right) {
      x = left;
      y += kLegendLine;
    }
    entry.draw({x, y - 4});
    svg.text({x + entry.sign + 7, y}, text, style);
    x += width + 22;
  }
  return y;
}

}  // namespace recut::gui

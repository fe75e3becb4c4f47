#include "gui/pictures/plot_frame.h"

#include <algorithm>

#include "gui/pictures/axis.h"

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

ByteAxis::ByteAxis(std::int64_t most, double room, Colour label)
    : most_(room * static_cast<double>(most)), style_{label, 11, 400, Anchor::end, true} {
  const std::int64_t tick = byte_tick(most, 6);
  for (std::int64_t at = 0; static_cast<double>(at) <= most_; at += tick) ticks_.push_back(at);
}

PlotMargins ByteAxis::tight() const {
  std::vector<std::string> labels;
  for (const std::int64_t at : ticks_) labels.push_back(byte_label(at));
  return {widest(labels, style_) + 18, 12, 42};
}

double ByteAxis::y_of(const PlotFrame& frame, std::int64_t bytes) const {
  return frame.up(static_cast<double>(std::max<std::int64_t>(0, bytes)) / most_);
}

void ByteAxis::draw(Svg& svg, const PlotFrame& frame, Colour line) const {
  for (const std::int64_t at : ticks_) {
    const double y = y_of(frame, at);
    svg.line({frame.left, y}, {frame.right, y}, line, 1, at == 0 ? "" : "2 4");
    svg.text({frame.left - 10, y + 4}, byte_label(at), style_);
  }
}

void draw_phase_boundary(Svg& svg, const PlotFrame& frame, double x, Colour colour) {
  const double y = frame.top - 10;
  svg.line({x, frame.top - 20}, {x, frame.bottom}, colour, 1, "3 3");
  svg.keep_clear_if_possible({x, frame.top - 20}, {x, frame.bottom});
  svg.label({{{x - 8, y}, Anchor::end}}, {"forward"}, {colour, 12});
  svg.label({{{x + 8, y}, Anchor::start}}, {"backward"}, {colour, 12});
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

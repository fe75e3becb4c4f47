// The frame of a plot: the positions of its axes in a picture of any width, and its legend, which
// takes as many lines as it needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gui/pictures/svg.h"

namespace recut::gui {

// The room beside and above the axes, in units.
struct PlotMargins {
  double left = 0, right = 0, top = 0;
};

struct PlotFrame {
  double width = 0;                                 // of the picture
  double left = 0, right = 0, top = 0, bottom = 0;  // of the axes

  double across(double share) const { return left + (right - left) * share; }
  double up(double share) const { return bottom - (bottom - top) * share; }
  LabelBox area() const { return {left, top, right, bottom}; }
  // The room for labels: all of the width, from the top of the picture to below the ticks.
  LabelBox around() const { return {4, 4, width - 4, bottom + 44}; }
};

inline constexpr double kPlotWidth = 1200;  // where a look names none

// `wide`: the margins and the height of the axes at the usual width, title and all. In a narrower
// picture margins are as large as their labels, `tight`, and the axes lower.
PlotFrame plot_frame(const PictureLook& look, const PlotMargins& wide, double height,
                     const PlotMargins& tight);

// A vertical axis of bytes from 0 to `room` times `most`, with a tick at each whole binary unit.
class ByteAxis {
 public:
  ByteAxis(std::int64_t most, double room, Colour label);

  // Margins as large as the labels.
  PlotMargins tight() const;
  // The y of a number of bytes; numbers below 0 are drawn at 0.
  double y_of(const PlotFrame& frame, std::int64_t bytes) const;
  void draw(Svg& svg, const PlotFrame& frame, Colour line) const;

 private:
  double most_;
  TextStyle style_;
  std::vector<std::int64_t> ticks_;
};

// A dashed line at `x` between the labels "forward" and "backward".
void draw_phase_boundary(Svg& svg, const PlotFrame& frame, double x, Colour colour);

// The width of the widest text.
double widest(const std::vector<std::string>& text, const TextStyle& style);

// A line of a legend: its sign is drawn with its left end at the point, `sign` wide.
struct LegendEntry {
  std::string text;
  double sign = 12;
  std::function<void(PicturePoint)> draw;
};
// Draws the legend from `y` on, the baseline of its first line; returns that of its last.
double draw_legend(Svg& svg, const PlotFrame& frame, double y, Colour colour,
                   const std::vector<LegendEntry>& entries);

}  // namespace recut::gui

// A plot: two axes with ticks and a grid, and shapes in their coordinates.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gui/draw/ui.h"

namespace recut::gui {

struct Tick {
  double at = 0;
  std::string label;
};

struct Axis {
  double from = 0, to = 1;
  std::vector<Tick> ticks;
};

// The axis of 0 (or `from`) … `to` bytes, with at most `ticks` ticks at whole powers of two: "512
// MiB".
Axis byte_axis(double from, double to, int ticks);
// The axis of 0 … `to` microseconds: "+2 ms" if `plus`, else "2 ms".
Axis time_axis(double to, int ticks, bool plus);

class Plot {
 public:
  // `inside`: the area of values. Labels are outside of it: 18 units below, and 8 units to its
  // left.
  Plot(const Ui& ui, const Rect& inside, Axis across, Axis up)
      : ui_(ui), inside_(inside), across_(std::move(across)), up_(std::move(up)) {}

  const Rect& inside() const { return inside_; }
  float x(double value) const;
  float y(double value) const;
  ImVec2 at(double across, double up) const { return {x(across), y(up)}; }
  double value_at_x(float x) const;
  double value_at_y(float y) const;

  void grid() const;  // lines at the ticks of the axis that goes up, and all labels

  // Clips the drawing at the edges until end().
  void begin() const;
  void end() const;
  void line(const std::vector<ImVec2>& points, Colour colour, float width) const;
  // Fills from the points down to the lower edge; their x must not fall.
  void area(const std::vector<ImVec2>& points, Colour colour, double opacity) const;

 private:
  const Ui& ui_;
  const Rect inside_;
  const Axis across_, up_;
};

}  // namespace recut::gui

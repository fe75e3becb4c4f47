// The loss of a training run as a picture: step by step, and its mean over each pass of the data.
#pragma once

#include <string>
#include <vector>

#include "gui/pictures/look.h"

namespace recut::gui {

struct LossCurve {
  std::string model;
  std::string optimizer;       // as text: "adam, learning rate 0.01"
  std::vector<double> losses;  // by step; values that aren't finite are not drawn
  std::size_t pass = 1;        // steps that go over the data once
};

std::string loss_curve_svg(const LossCurve& curve, const PictureLook& look);

}  // namespace recut::gui

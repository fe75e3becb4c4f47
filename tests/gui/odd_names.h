// A small joint graph whose name is full of what HTML and SVG have to escape.
#pragma once

namespace recut::gui {

inline constexpr const char* kOddNames = R"(graph "a<b & \"c\"" {
  %x = parameter f32[2, 3] #0
  %t = tangent f32[2, 3]
  %y = exp(%x) : f32[2, 3] #1
  %z = relu(%y) : f32[2, 3] #2
  %g = mul.Tensor(%t, %z) : f32[2, 3] #2
  %m = mul.Tensor(%g, %y) : f32[2, 3] #1
  %n = mul.Tensor(%m, 2.0) : f32[2, 3] #1
  results %z
  gradients %n
}
)";

}  // namespace recut::gui

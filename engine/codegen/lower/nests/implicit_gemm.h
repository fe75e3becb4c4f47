// Convolution as implicit GEMM (as in cuDNN and CUTLASS): the im2col matrix is generated where a
// block is packed, so that it never exists in memory.
#pragma once

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/sliding_window.h"

namespace recut::loop {

// input [N, C, plane...], weight [O, C/groups, kernel...], output [N, O, windows...].
struct Convolution {
  std::int64_t samples, groups, channels, outputs;  // the last two of a group
  Shape plane, kernel, windows;
  WindowConfig window_config;
  DType type;

  Convolution(const Nest& nest, const Shape& in, const Shape& weight, const Shape& out);

  std::size_t dims() const { return kernel.size(); }
};

// `count` dimensions of an index, from `first` on.
Indices part(const Indices& at, std::size_t first, std::size_t count);
// [first, second, rest...]
Indices joined(const Index& first, const Index& second, const Indices& rest);

// The sum of an output channel's window with all that the call adds to it, and within its bounds.
// `at`: in the output.
ScalarExpr with_epilogue(const Nest& nest, const Convolution& c, const ScalarExpr& sum,
                         const Indices& at);

// Each returns false, and builds nothing, where plain nests are as fast.
bool convolution_in_tiles(const Nest& nest, const Convolution& c);
bool input_gradient_in_tiles(const Nest& nest, const Convolution& c);
bool weight_gradient_in_tiles(const Nest& nest, const Convolution& c);

}  // namespace recut::loop

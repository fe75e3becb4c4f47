// Convolutions in cuDNN's terms, as plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/library/library_call.h"
#include "engine/ir/dtype.h"
#include "engine/support/result.h"
#include "native/cuda/precision.h"

namespace recut::cuda {

struct TensorForm {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
  std::vector<int> shape, strides;
};

// y[samples, k, windows…] of x[samples, c, plane…] and w[k, c / groups, kernel…]. A transposed
// convolution is the data gradient of a convolution in the other direction: its output is that
// one's x.
struct ConvolutionForm {
  enum class Direction : std::uint8_t {
    forward,          // x, w -> y
    backward_data,    // y, w -> x
    backward_filter,  // x, y -> w
  };
  Direction direction = Direction::forward;
  TensorForm x, w, y;
  bool channels_last = false;  // layout of w, which is dense
  std::vector<int> padding, stride, dilation;
  int groups = 1;

  // Shape [1, channels, 1…]: added to the result of the call (`biased`), or the sum over it.
  std::optional<TensorForm> bias;
  bool bias_is_gradient = false;
  bool biased_is_x = false;  // else y
  DType dtype = DType::f32;  // of all tensors
  const TensorForm& biased() const { return biased_is_x ? x : y; }
};

// True if the factors must stay f32, although tensor cores round them. They do in precision f32,
// and where each channel is a group of its own: sums of so few products gain nothing by tensor
// cores, and PyTorch has f32 kernels for them. cuDNN rounds no f32 to bf16: where products do,
// convolutions take tf32.
bool keeps_f32(const ConvolutionForm& form, Precision precision);

// Planes of one dimension get a second one of 1 element. Fails where the weight isn't dense or is
// alone in having its channels last, where a number is beyond cuDNN's 32 bits, and for the gradient
// of a bias in bf16.
Result<ConvolutionForm> form_of(const library::Convolution& convolution);

}  // namespace recut::cuda

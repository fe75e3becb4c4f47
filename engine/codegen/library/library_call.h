// Matrix products and convolutions as a library takes them: plain numbers, without a graph. Made
// of a call instead of a kernel in loop form, where a target has a library and the call's shapes
// and layouts fit it; oneDNN on a processor, cuBLASLt and cuDNN on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/lower/lower.h"
#include "engine/ir/graph.h"
#include "engine/ir/layout.h"
#include "engine/partition/storage_model.h"

namespace recut::library {

// A tensor: a buffer of the kernel, seen through a layout (in elements).
struct Operand {
  std::size_t buffer = 0;
  Layout layout;
};

// out[i, j] = sum over k of left[i, k] * right[k, j], + bias[j] where there is one. All have a
// batch dimension in front, or none has. Of each of the three, one of the last two dimensions has
// the stride 1.
struct MatrixProduct {
  Operand left, right, out;
  std::optional<Operand> bias;
};

// PyTorch's convolution and what its backward needs. Each tensor is what the forward call names so,
// or the gradient of it: `output` is read where `way` isn't forward.
struct Convolution {
  enum class Way : std::uint8_t {
    forward,          // input, weight, bias -> output
    input_gradient,   // output, weight -> input
    weight_gradient,  // input, output -> weight, bias
  };
  Way way = Way::forward;
  bool transposed = false;
  std::int64_t groups = 1;
  Shape stride, padding, dilation;  // one a dimension of the plane
  Operand input;                    // [samples, channels, plane...]
  Operand weight;                   // [outputs, channels / groups, kernel...]; transposed:
                                    // [channels, outputs / groups, kernel...]
  Operand output;                   // [samples, outputs, windows...]
  std::optional<Operand> bias;      // [outputs]
};

using Call = std::variant<MatrixProduct, Convolution>;

// The calls run one after another.
struct Kernel {
  std::string name;
  std::vector<std::string> notes;  // for readers: which node it computes
  std::vector<loop::Buffer> buffers;
  std::vector<loop::BufferSource> sources;  // one a buffer
  std::vector<Call> calls;
};

// A call of the graph as a library's. Nothing where it is neither product nor convolution, is not
// of f32, has a layout or a scale that none of the calls above has, or where it gives something
// that they don't.
std::optional<Kernel> library_kernel(const Graph& graph, const StorageModel& storages, NodeId id);

// As text: buffers, then a line a call.
//   %mm[512, 512 by 512, 1] = product %x[512, 768 by 768, 1], %w[768, 512 by 1, 768]
std::string print(const Kernel& kernel);

}  // namespace recut::library

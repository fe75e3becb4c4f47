// Matrix products, convolutions and attention as a library takes them: plain numbers, without a
// graph. Made of a call instead of a kernel in loop form, where a target has a library and the
// call's dtype, shapes and layouts fit it; oneDNN on a processor, cuBLASLt and cuDNN on a GPU, and
// for attention there kernels of Recut's own (cuda/attention.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/lower/lowered_kernel.h"
#include "engine/ir/dtype.h"
#include "engine/ir/layout.h"

namespace recut::library {

// A tensor: a buffer of the kernel, seen through a layout (in elements).
struct Operand {
  std::size_t buffer = 0;
  Layout layout;
};

// out[i, j] = alpha * sum over k of left[i, k] * right[k, j], + bias[j] or + beta * added[i, j]
// where there is one, and 0 instead of what is below it where `rectified`. All but the bias have a
// batch dimension in front, or none has. Of each of them, one of the last two dimensions has the
// stride 1. All are of `dtype`: f32, f16 or bf16; sums are of f32.
struct MatrixProduct {
  Operand left, right, out;
  std::optional<Operand> bias;
  std::optional<Operand> added = std::nullopt;  // of out's shape
  double alpha = 1, beta = 1;
  bool rectified = false;
  DType dtype = DType::f32;
};

// PyTorch's convolution and what its backward needs. Each tensor is what the forward call names so,
// or the gradient of it: `output` is read where `way` isn't forward. All are of `dtype`, as a
// product's are.
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
  DType dtype = DType::f32;
};

// (softmax(query key^T * scale + bias) kept) value, or the gradients of it, as
// lower/nests/attention.cpp and attention_backward.cpp have them: a row without any key has zeros
// and -inf. All are [batch, heads, rows, columns], with the step 0 where they are seen from several
// places; each head of keys serves heads / key heads of queries.
struct Attention {
  double scale = 1;
  bool causal = false;          // a query sees no later keys than itself
  Operand query, key, value;    // of one dtype, with out and all gradients
  std::optional<Operand> bias;  // [.., queries, keys]: bools keep where they hold, others are added
  std::optional<Operand> keep;  // bools, of the same shape: the weights that dropout keeps
  double keep_scale = 1;        // what it multiplies them by
  Operand out;                  // written; backward: read
  std::optional<Operand> log_sums;  // [.., rows], f32: of exponentials; forward writes +inf to rows
                                    // behind the queries
  std::vector<Operand> zeros;       // forward: seeds that no dropout drew
  std::optional<Operand> grad;      // of out: backward
  std::optional<Operand> query_gradient, key_gradient, value_gradient;  // written
};

using Call = std::variant<MatrixProduct, Convolution, Attention>;

// The calls run one after another.
struct Kernel {
  std::string name;
  std::vector<std::string> notes;  // for readers: which node it computes
  std::vector<loop::Buffer> buffers;
  std::vector<loop::BufferSource> sources;  // one a buffer
  std::vector<Call> calls;
};

}  // namespace recut::library

// Matrix products, convolutions and attention in the form of a library call: plain numbers, without
// a graph. Such a kernel replaces one in loop form where the target has a library and the call's
// dtype, shapes and layouts fit it: oneDNN on a CPU, cuBLASLt and cuDNN on a GPU. Attention on a
// GPU may also run Recut's own kernels (cuda/attention.h).
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

// A tensor: a buffer of the kernel and a strided layout (in elements).
struct Operand {
  std::size_t buffer = 0;
  Layout layout;
};

// out[i, j] = alpha * sum over k of left[i, k] * right[k, j], plus bias[j] or beta * addend[i, j]
// if given, then ReLU if requested. All but the bias have a leading batch dimension, or none has.
// One of the last two dimensions of each matrix has the stride 1. `dtype` is f32, f16 or bf16 for
// all operands; sums are in f32.
struct MatrixProduct {
  Operand left, right, out;
  std::optional<Operand> bias;
  std::optional<Operand> addend = std::nullopt;  // of out's shape
  double alpha = 1, beta = 1;
  bool relu = false;
  DType dtype = DType::f32;
};

// PyTorch's convolution and its gradients. Each operand is the tensor that the forward call names
// so, or its gradient: `output` is written in the forward direction and read in the others. All
// have the dtype `dtype`, as in a matrix product.
struct Convolution {
  enum class Direction : std::uint8_t {
    forward,          // input, weight, bias -> output
    input_gradient,   // output, weight -> input
    weight_gradient,  // input, output -> weight, bias
  };
  Direction direction = Direction::forward;
  bool transposed = false;
  std::int64_t groups = 1;
  Shape stride, padding, dilation;  // one a dimension of the plane
  Operand input;                    // [samples, channels, plane...]
  Operand weight;                   // [outputs, channels / groups, kernel...]; transposed:
                                    // [channels, outputs / groups, kernel...]
  Operand output;                   // [samples, outputs, windows...]
  std::optional<Operand> bias;      // [outputs]
  DType dtype = DType::f32;
  // Forward: output = min(max(convolution + addend, low), high).
  std::optional<Operand> addend;  // of the output's shape
  std::optional<double> low, high;

  bool has_epilogue() const { return addend || low || high; }
};

// Attention: dropout(softmax(query key^T * scale + bias)) value, or its gradients, as in
// lower/nests/attention.cpp and attention_backward.cpp. A row without any visible key gives zeros
// and the logsumexp -inf. All operands are [batch, heads, rows, columns], with the stride 0 where
// they are broadcast. Each head of keys serves heads / key heads of queries (grouped-query
// attention).
struct Attention {
  double scale = 1;
  bool causal = false;          // a query sees no later keys than itself
  Operand query, key, value;    // of one dtype, with out and all gradients
  std::optional<Operand> bias;  // [.., queries, keys]: bools keep where they hold, others are added
  std::optional<Operand> keep;  // dropout mask: bools, of the same shape
  double keep_scale = 1;        // scale of the kept weights
  Operand out;                  // written; backward: read
  std::optional<Operand> logsumexp;  // [.., rows], f32, of the scores; forward pads it with +inf
                                     // behind the queries
  std::vector<Operand> zeros;        // forward: unused random seeds
  std::optional<Operand> grad;       // of `out`; set: a backward call
  std::optional<Operand> query_gradient, key_gradient, value_gradient;  // written
};

using Call = std::variant<MatrixProduct, Convolution, Attention>;

// The calls run one after another.
struct Kernel {
  std::string name;
  std::vector<std::string> locations;  // for readers: the node that it computes
  std::vector<loop::Buffer> buffers;
  std::vector<loop::BufferSource> sources;  // one a buffer
  std::vector<Call> calls;
};

}  // namespace recut::library

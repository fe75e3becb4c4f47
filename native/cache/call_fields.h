// Calls of libraries as bytes (bytes.h). All fields are named, so that the compiler finds a new
// one.
#pragma once

#include "engine/codegen/library/library_call.h"

namespace recut::cache {

struct CallFields {
  template <class Bytes>
  static void of(Bytes& bytes, Layout& layout) {
    auto& [shape, strides, offset, copied] = layout;
    bytes(shape, strides, offset, copied);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Operand& operand) {
    auto& [buffer, layout] = operand;
    bytes(buffer, layout);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::MatrixProduct& product) {
    auto& [left, right, out, bias, addend, alpha, beta, relu, dtype] = product;
    bytes(left, right, out, bias, addend, alpha, beta, relu, dtype);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Convolution& c) {
    auto& [direction, transposed, groups, stride, padding, dilation, input, weight, output, bias,
           dtype, addend, low, high] = c;
    bytes(direction, transposed, groups, stride, padding, dilation, input, weight, output, bias,
          dtype, addend, low, high);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Attention& a) {
    auto& [scale, causal, query, key, value, bias, keep, keep_scale, out, logsumexp, zeros, grad,
           query_gradient, key_gradient, value_gradient] = a;
    bytes(scale, causal, query, key, value, bias, keep, keep_scale, out, logsumexp, zeros, grad,
          query_gradient, key_gradient, value_gradient);
  }
};

}  // namespace recut::cache

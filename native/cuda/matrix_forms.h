// Matrix products in cuBLASLt's words, as plain numbers: column-major matrices, turned or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/codegen/library/library_call.h"
#include "engine/ir/dtype.h"

namespace recut::cuda {

// What the addresses of all buffers are multiples of.
inline constexpr std::int64_t kBufferAlignment = 64;

// As it stands in memory: element (row, column) at row + column * leading. `turned`: the product
// takes its transpose.
struct MatrixForm {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
  std::int64_t rows = 1, columns = 1, leading = 1;
  std::int64_t batch_stride = 0;  // elements
  bool turned = false;

  // What its address is a multiple of.
  std::int64_t alignment() const;
};

struct BiasForm {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
};

// d = alpha a b, with a[rows of d, k] and b[k, columns of d], and a number added to each row of d
// where there is a bias, or beta c where there is that; 0 instead of what is below it where it is
// `rectified`. All are of one dtype.
struct ProductForm {
  MatrixForm a, b, d;
  std::int64_t batch = 1;
  std::optional<BiasForm> bias;
  std::optional<MatrixForm> c;  // not turned
  double alpha = 1, beta = 1;
  bool rectified = false;
  DType dtype = DType::f32;
};

// A product whose result runs along its rows is the transpose of one that runs along its columns:
// out^T = right^T left^T, of which cuBLASLt adds a bias to each row. Nothing where there is a bias
// and out runs along its columns, and where what is added runs the other way than out.
std::optional<ProductForm> form_of(const library::MatrixProduct& product);

}  // namespace recut::cuda

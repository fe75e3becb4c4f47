// Matrix products in cuBLASLt's terms, as plain numbers: column-major matrices, transposed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/codegen/library/library_call.h"
#include "engine/ir/dtype.h"

namespace recut::cuda {

// All buffer addresses are multiples of this.
inline constexpr std::int64_t kBufferAlignment = 64;

// A matrix in memory: element (row, column) at row + column * leading. `transposed`: the product
// takes its transpose.
struct MatrixForm {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
  std::int64_t rows = 1, columns = 1, leading = 1;
  std::int64_t batch_stride = 0;  // elements
  bool transposed = false;

  // The largest power of two, up to kBufferAlignment, that divides its address.
  std::int64_t alignment() const;
};

struct BiasForm {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
};

// d = alpha a b, with a[rows of d, k] and b[k, columns of d]. `bias` adds one number to each row of
// d; `c` adds beta c. `relu` then sets negative elements to 0. All have one dtype.
struct ProductForm {
  MatrixForm a, b, d;
  std::int64_t batch = 1;
  std::optional<BiasForm> bias;
  std::optional<MatrixForm> c;  // not transposed
  double alpha = 1, beta = 1;
  bool relu = false;
  DType dtype = DType::f32;
};

// A product whose result is contiguous along its rows is the transpose of one that is contiguous
// along its columns: out^T = right^T left^T, and cuBLASLt adds a bias to each row of that. None
// where there is a bias and out is contiguous along its columns, and where the addend has another
// order than out.
std::optional<ProductForm> form_of(const library::MatrixProduct& product);

}  // namespace recut::cuda

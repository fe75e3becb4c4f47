// Products of dense matrices: the inner loop of matrix products, convolutions and attention.
#pragma once

#include <cstdint>

#include "engine/eval/tensor.h"

namespace recut {

// A row-major matrix in an array: element (i, j) stands at data[i * step + j].
struct MatrixView {
  const double* data;
  std::int64_t step;
};

// c += a b for [n, k] times [k, m]. Every element's products are added in order of k, so that the
// result doesn't depend on how the loops are cut.
void multiply_add(std::int64_t n, std::int64_t k, std::int64_t m, MatrixView a, MatrixView b,
                  double* c, std::int64_t c_step);

// [rows, columns] as [columns, rows].
void transpose(std::int64_t rows, std::int64_t columns, const double* from, double* to);

// Maps flat index `index` of shape `all` to the flat index in shape `own`, which broadcasts to it.
std::int64_t broadcast_index(std::int64_t index, const Shape& all, const Shape& own);

// Products of matrices, vectors and batches with numpy's rules, as torch.matmul has them.
template <class T>
Dense<T> matmul(const Dense<T>& a, const Dense<T>& b);

// The last two dimensions exchanged.
template <class T>
Dense<T> transposed(const Dense<T>& a);

}  // namespace recut

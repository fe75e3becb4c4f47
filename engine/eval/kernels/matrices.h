// Single matrices in double, and the factorisations that kernels of linear algebra share. Signs,
// orders and pivots are LAPACK's (Anderson et al., LAPACK Users' Guide), whose results PyTorch
// gives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/tensor.h"

namespace recut {

struct Matrix {  // row-major
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> data;

  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), data(static_cast<std::size_t>(rows * columns), 0.0) {}
  static Matrix identity(std::int64_t rows, std::int64_t columns);

  double& at(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  double at(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};

Matrix operator*(const Matrix& a, const Matrix& b);
Matrix transposed(const Matrix& a);

// Batches: [batch…, rows, columns].
// ------------------------------------------------------------------------------------------------
std::int64_t matrix_count(const Shape& shape);
Shape batch_shape(const Shape& shape);
Matrix matrix_at(const Reals& batch, std::int64_t index);
void put_matrix(Reals& batch, std::int64_t index, const Matrix& matrix);

// The name of an operator's first parameter: A, self, input.
std::string_view first_parameter(const KernelContext& c);

// Triangles.
// ------------------------------------------------------------------------------------------------
struct Triangle {
  bool upper = false;
  bool unit = false;  // ones on the diagonal, which isn't read
  bool transposed = false;
};

// b := a^-1 b; the other triangle of `a` isn't read. A zero on the diagonal divides as IEEE says.
void solve_triangular(const Matrix& a, Triangle triangle, Matrix& b);

// The lower or upper triangle, `unit`: with ones on the diagonal; zeros elsewhere.
Matrix triangle_of(const Matrix& a, bool upper, bool unit = false);

// LU (dgetrf): rows are swapped for the first largest pivot.
// ------------------------------------------------------------------------------------------------
struct Lu {
  Matrix factors;
  std::vector<std::int64_t> pivots;  // row that step k swapped with, from 1
  std::int64_t info = 0;             // index of the first zero pivot, from 1; 0: none
};
Lu lu_factor(Matrix a, bool pivot = true);

// x of A x = b (or A^T x = b) from A's factors.
Matrix lu_solve(const Matrix& factors, const std::vector<std::int64_t>& pivots, Matrix b,
                bool adjoint);

// Exchanges rows in the order of the pivots, or in the reverse order.
void swap_rows(Matrix& a, const std::vector<std::int64_t>& pivots, bool backwards);

// Cholesky (dpotrf): the lower factor, from the lower triangle; `info` as LAPACK's.
// ------------------------------------------------------------------------------------------------
struct Cholesky {
  Matrix factor;
  std::int64_t info = 0;  // order of the first minor that isn't positive, from 1; 0: none
};
Cholesky cholesky_factor(const Matrix& a);

// Spectra.
// ------------------------------------------------------------------------------------------------
struct Eigen {
  std::vector<double> values;  // ascending
  Matrix vectors;              // columns
};
Eigen symmetric_eigen(Matrix a, bool lower);

struct Svd {
  Matrix u;                    // [m, k]
  std::vector<double> values;  // descending, k = min(m, n)
  Matrix v;                    // [n, k]
};
Svd singular_values(const Matrix& a);

inline bool all_finite(const Reals& a) {
  return std::all_of(a.data.begin(), a.data.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace recut

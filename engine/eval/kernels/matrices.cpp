// Small dense linear algebra on row-major matrices in double (matrices.h): unblocked textbook
// algorithms, O(n^3), with LAPACK's conventions for signs and pivots, so that results are
// comparable with PyTorch's.
#include "engine/eval/kernels/matrices.h"

#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/gemm.h"

namespace recut {

Matrix Matrix::identity(std::int64_t rows, std::int64_t columns) {
  Matrix m(rows, columns);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) m.at(i, i) = 1;
  return m;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  multiply_add(a.rows, a.columns, b.columns, {a.data.data(), a.columns}, {b.data.data(), b.columns},
               c.data.data(), c.columns);
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  transpose(a.rows, a.columns, a.data.data(), t.data.data());
  return t;
}

Shape batch_shape(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

std::int64_t matrix_count(const Shape& shape) { return element_count(batch_shape(shape)); }

Matrix matrix_at(const Reals& batch, std::int64_t index) {
  Matrix m(batch.shape[batch.shape.size() - 2], batch.shape.back());
  const auto size = static_cast<std::ptrdiff_t>(m.data.size());
  std::copy_n(batch.data.begin() + index * size, size, m.data.begin());
  return m;
}

void put_matrix(Reals& batch, std::int64_t index, const Matrix& matrix) {
  const auto size = static_cast<std::ptrdiff_t>(matrix.data.size());
  std::copy_n(matrix.data.begin(), size, batch.data.begin() + index * size);
}

std::string_view first_parameter(const KernelContext& c) { return c.call.op().parameters[0].name; }

void solve_triangular(const Matrix& a, Triangle triangle, Matrix& b) {
  const std::int64_t n = a.rows;
  const bool forwards = triangle.upper == triangle.transposed;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = forwards ? step : n - 1 - step;
    for (std::int64_t done = 0; done < step; ++done) {
      const std::int64_t j = forwards ? done : n - 1 - done;
      const double factor = triangle.transposed ? a.at(j, i) : a.at(i, j);
      for (std::int64_t k = 0; k < b.columns; ++k) b.at(i, k) -= factor * b.at(j, k);
    }
    if (triangle.unit) continue;
    for (std::int64_t k = 0; k < b.columns; ++k) b.at(i, k) /= a.at(i, i);
  }
}

Matrix triangle_of(const Matrix& a, bool upper, bool unit) {
  Matrix t(a.rows, a.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if (i == j && unit)
        t.at(i, j) = 1;
      else if (upper ? j >= i : j <= i)
        t.at(i, j) = a.at(i, j);
    }
  return t;
}

void swap_rows(Matrix& a, const std::vector<std::int64_t>& pivots, bool backwards) {
  const auto count = static_cast<std::int64_t>(pivots.size());
  for (std::int64_t step = 0; step < count; ++step) {
    const std::int64_t i = backwards ? count - 1 - step : step;
    const std::int64_t other = pivots[static_cast<std::size_t>(i)] - 1;
    if (other == i) continue;
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a.at(i, j), a.at(other, j));
  }
}

namespace {

// The first row at or below k whose element of column k is largest.
std::int64_t largest_in_column(const Matrix& a, std::int64_t k) {
  std::int64_t best = k;
  for (std::int64_t i = k + 1; i < a.rows; ++i)
    if (std::abs(a.at(i, k)) > std::abs(a.at(best, k))) best = i;
  return best;
}

}  // namespace

Lu lu_factor(Matrix a, bool pivot) {
  Lu lu;
  const std::int64_t steps = std::min(a.rows, a.columns);
  for (std::int64_t k = 0; k < steps; ++k) {
    const std::int64_t row = pivot ? largest_in_column(a, k) : k;
    lu.pivots.push_back(row + 1);
    if (a.at(row, k) == 0) {
      if (lu.info == 0) lu.info = k + 1;
      continue;
    }
    if (row != k)
      for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a.at(k, j), a.at(row, j));
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      a.at(i, k) /= a.at(k, k);
      const double factor = a.at(i, k);
      for (std::int64_t j = k + 1; j < a.columns; ++j) a.at(i, j) -= factor * a.at(k, j);
    }
  }
  lu.factors = std::move(a);
  return lu;
}

Matrix lu_solve(const Matrix& factors, const std::vector<std::int64_t>& pivots, Matrix b,
                bool adjoint) {
  if (!adjoint) {
    swap_rows(b, pivots, false);
    solve_triangular(factors, {.upper = false, .unit = true}, b);
    solve_triangular(factors, {.upper = true}, b);
  } else {
    solve_triangular(factors, {.upper = true, .transposed = true}, b);
    solve_triangular(factors, {.upper = false, .unit = true, .transposed = true}, b);
    swap_rows(b, pivots, true);
  }
  return b;
}

Cholesky cholesky_factor(const Matrix& a) {
  Cholesky result{a, 0};
  Matrix& l = result.factor;
  for (std::int64_t j = 0; j < a.rows; ++j) {
    double square = l.at(j, j);
    for (std::int64_t k = 0; k < j; ++k) square -= l.at(j, k) * l.at(j, k);
    if (!(square > 0)) {  // NaN too
      result.info = j + 1;
      l.at(j, j) = square;
      break;
    }
    l.at(j, j) = std::sqrt(square);
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      double sum = l.at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= l.at(i, k) * l.at(j, k);
      l.at(i, j) = sum / l.at(j, j);
    }
  }
  l = triangle_of(l, false);
  return result;
}

}  // namespace recut

// L D L^T of symmetric matrices with pivots of one or two rows, after Bunch and Kaufman (1977), as
// LAPACK's dsytf2 and dsytrs do it for lower triangles. A pivot of two rows is written as the same
// negative number twice.
#include <fmt/core.h>

#include <cmath>

#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/matrices.h"

namespace recut {
namespace {

struct Ldl {
  Matrix factors;
  std::vector<std::int64_t> pivots;  // from 1
  std::int64_t info = 0;
};

struct Pivot {
  std::int64_t row;    // the row to swap with the block's last row
  std::int64_t width;  // 1 or 2
};

// The largest off-diagonal element of the remaining symmetric matrix's row.
double largest_in_row(const Matrix& a, std::int64_t k, std::int64_t row) {
  double largest = 0;
  for (std::int64_t j = k; j < row; ++j) largest = std::max(largest, std::abs(a.at(row, j)));
  for (std::int64_t i = row + 1; i < a.rows; ++i)
    largest = std::max(largest, std::abs(a.at(i, row)));
  return largest;
}

Pivot choose_pivot(const Matrix& a, std::int64_t k, bool& singular) {
  const double alpha = (1 + std::sqrt(17.0)) / 8;
  const double diagonal = std::abs(a.at(k, k));
  std::int64_t row = k;
  double column = 0;
  for (std::int64_t i = k + 1; i < a.rows; ++i)
    if (std::abs(a.at(i, k)) > column) {
      column = std::abs(a.at(i, k));
      row = i;
    }
  singular = std::max(diagonal, column) == 0 || std::isnan(diagonal);
  if (singular || diagonal >= alpha * column) return {k, 1};
  const double widest = largest_in_row(a, k, row);
  if (diagonal >= alpha * column * (column / widest)) return {k, 1};
  if (std::abs(a.at(row, row)) >= alpha * widest) return {row, 1};
  return {row, 2};
}

// Exchanges rows and columns `from` and `to` > from of the symmetric matrix below row k.
void exchange(Matrix& a, std::int64_t k, std::int64_t from, std::int64_t to) {
  if (from == to) return;
  for (std::int64_t i = to + 1; i < a.rows; ++i) std::swap(a.at(i, from), a.at(i, to));
  for (std::int64_t i = from + 1; i < to; ++i) std::swap(a.at(i, from), a.at(to, i));
  std::swap(a.at(from, from), a.at(to, to));
  if (from == k + 1) std::swap(a.at(from, k), a.at(to, k));
}

void eliminate_one(Matrix& a, std::int64_t k) {
  const double scale = 1 / a.at(k, k);
  for (std::int64_t j = k + 1; j < a.rows; ++j)
    for (std::int64_t i = j; i < a.rows; ++i) a.at(i, j) -= scale * a.at(i, k) * a.at(j, k);
  for (std::int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) *= scale;
}

void eliminate_two(Matrix& a, std::int64_t k) {
  const double off = a.at(k + 1, k);
  const double d11 = a.at(k + 1, k + 1) / off;
  const double d22 = a.at(k, k) / off;
  const double scale = 1 / (d11 * d22 - 1) / off;
  for (std::int64_t j = k + 2; j < a.rows; ++j) {
    const double first = scale * (d11 * a.at(j, k) - a.at(j, k + 1));
    const double second = scale * (d22 * a.at(j, k + 1) - a.at(j, k));
    for (std::int64_t i = j; i < a.rows; ++i)
      a.at(i, j) -= a.at(i, k) * first + a.at(i, k + 1) * second;
    a.at(j, k) = first;
    a.at(j, k + 1) = second;
  }
}

Ldl ldl_factor(Matrix a) {
  Ldl result;
  std::int64_t k = 0;
  while (k < a.rows) {
    bool singular = false;
    const Pivot p = choose_pivot(a, k, singular);
    if (singular && result.info == 0) result.info = k + 1;
    exchange(a, k, k + p.width - 1, p.row);
    if (!singular && p.width == 1) eliminate_one(a, k);
    if (p.width == 2) eliminate_two(a, k);
    for (std::int64_t i = 0; i < p.width; ++i)
      result.pivots.push_back(p.width == 1 ? p.row + 1 : -(p.row + 1));
    k += p.width;
  }
  result.factors = std::move(a);
  return result;
}

// linalg_ldl_factor and linalg_ldl_factor_ex.
Result<Done> factor_ldl(KernelContext& c) {
  const Reals a = c.reals("self");
  Reals factors(a.shape);
  Integers pivots(c.output_types[1].shape);
  Integers info(batch_shape(a.shape));
  const bool with_info = c.outputs.size() > 2;
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Ldl ldl = ldl_factor(matrix_at(a, i));
    if (ldl.info != 0 && (!with_info || c.call.boolean("check_errors")))
      return error(fmt::format("{}: block {} is singular", c.call.op().name, ldl.info));
    put_matrix(factors, i, triangle_of(ldl.factors, false));
    const auto n = static_cast<std::int64_t>(ldl.pivots.size());
    for (std::int64_t k = 0; k < n; ++k)
      pivots[i * n + k] = ldl.pivots[static_cast<std::size_t>(k)];
    info[i] = ldl.info;
  }
  c.write(factors, 0);
  c.write(pivots, 1);
  if (with_info) c.write(info, 2);
  return Done{};
}

void swap(Matrix& b, std::int64_t i, std::int64_t j) {
  if (i == j) return;
  for (std::int64_t k = 0; k < b.columns; ++k) std::swap(b.at(i, k), b.at(j, k));
}

// Row `to` minus factor times row `from`.
void subtract(Matrix& b, std::int64_t to, double factor_ldl, std::int64_t from) {
  for (std::int64_t k = 0; k < b.columns; ++k) b.at(to, k) -= factor_ldl * b.at(from, k);
}

// Rows k and k + 1 of b by the inverse of D's block there.
void solve_block(const Matrix& a, std::int64_t k, Matrix& b) {
  const double off = a.at(k + 1, k);
  const double upper = a.at(k, k) / off;
  const double lower = a.at(k + 1, k + 1) / off;
  const double scale = upper * lower - 1;
  for (std::int64_t j = 0; j < b.columns; ++j) {
    const double first = b.at(k, j) / off;
    const double second = b.at(k + 1, j) / off;
    b.at(k, j) = (lower * first - second) / scale;
    b.at(k + 1, j) = (upper * second - first) / scale;
  }
}

// Widths of D's blocks, in order; fails where the pivots can't be a factorisation's.
Result<std::vector<std::int64_t>> block_widths(const std::vector<std::int64_t>& pivots) {
  const auto n = static_cast<std::int64_t>(pivots.size());
  std::vector<std::int64_t> widths;
  for (std::int64_t k = 0; k < n; k += widths.back()) {
    const std::int64_t p = pivots[static_cast<std::size_t>(k)];
    const bool pair = p < 0 && k + 1 < n && pivots[static_cast<std::size_t>(k + 1)] == p;
    if (p == 0 || p < -n || p > n || (p < 0 && !pair))
      return error(fmt::format("pivot {} of {} rows", p, n));
    widths.push_back(pair ? 2 : 1);
  }
  return widths;
}

Result<Done> solve(const Matrix& a, const std::vector<std::int64_t>& pivots, Matrix& b) {
  const auto widths = block_widths(pivots);
  if (!widths) return widths.diagnostics();
  const auto row_of = [&](std::int64_t k) {
    return std::abs(pivots[static_cast<std::size_t>(k)]) - 1;
  };
  std::int64_t k = 0;
  for (const std::int64_t width : *widths) {  // L D
    swap(b, k + width - 1, row_of(k));
    for (std::int64_t i = k + width; i < a.rows; ++i)
      for (std::int64_t j = k; j < k + width; ++j) subtract(b, i, a.at(i, j), j);
    if (width == 2)
      solve_block(a, k, b);
    else
      for (std::int64_t j = 0; j < b.columns; ++j) b.at(k, j) /= a.at(k, k);
    k += width;
  }
  for (std::size_t w = widths->size(); w-- > 0;) {  // L^T
    const std::int64_t width = (*widths)[w];
    k -= width;
    for (std::int64_t i = k + width; i < a.rows; ++i)
      for (std::int64_t j = k; j < k + width; ++j) subtract(b, j, a.at(i, j), i);
    swap(b, k + width - 1, row_of(k));
  }
  return Done{};
}

Result<Done> ldl_solve(KernelContext& c) {
  const Reals factors = c.reals("LD");
  const Integers pivots = c.integers("pivots");
  const Reals b = c.reals("B");
  Reals out(c.output_types[0].shape);
  const Shape batch = batch_shape(out.shape);
  const std::int64_t n = factors.shape.back();
  for (std::int64_t i = 0; i < element_count(batch); ++i) {
    const std::int64_t at = broadcast_index(i, batch, batch_shape(factors.shape));
    const auto first = pivots.data.begin() + at * n;
    Matrix x = matrix_at(b, broadcast_index(i, batch, batch_shape(b.shape)));
    const auto solved = solve(matrix_at(factors, at), {first, first + n}, x);
    if (!solved) return solved;
    put_matrix(out, i, x);
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_ldl_kernels(KernelTable& t) {
  t.add(Op::linalg_ldl_factor, factor_ldl);
  t.add(Op::linalg_ldl_factor_ex, factor_ldl);
  t.add(Op::linalg_ldl_solve, ldl_solve);
}

}  // namespace recut

// LU factorisations, and the solutions, inverses and determinants computed from them.
#include <fmt/core.h>

#include <cmath>

#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/matrices.h"

namespace recut {
namespace {

void put_pivots(Integers& to, std::int64_t index, const std::vector<std::int64_t>& pivots) {
  for (std::size_t i = 0; i < pivots.size(); ++i)
    to[index * static_cast<std::int64_t>(pivots.size()) + static_cast<std::int64_t>(i)] = pivots[i];
}

// One factorisation's pivots of a batch; each must be a valid row.
Result<std::vector<std::int64_t>> pivots_at(const Integers& pivots, std::int64_t index,
                                            std::int64_t rows) {
  const std::int64_t count = pivots.shape.back();
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(pivots[index * count + i]);
    if (out.back() < 1 || out.back() > rows)
      return error(fmt::format("pivot {} of a matrix of {} rows", out.back(), rows));
  }
  return out;
}

Matrix permutation(const std::vector<std::int64_t>& pivots, std::int64_t rows) {
  Matrix p = Matrix::identity(rows, rows);
  swap_rows(p, pivots, true);
  return p;
}

// linalg_lu_factor and linalg_lu_factor_ex.
Result<Done> factor_lu(KernelContext& c) {
  const Reals a = c.reals("A");
  Reals factors(a.shape);
  Integers pivots(c.output_types[1].shape);
  Integers info(batch_shape(a.shape));
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Lu lu = lu_factor(matrix_at(a, i), c.call.boolean("pivot"));
    put_matrix(factors, i, lu.factors);
    put_pivots(pivots, i, lu.pivots);
    info[i] = lu.info;
  }
  c.write(factors, 0);
  c.write(pivots, 1);
  if (c.outputs.size() > 2) c.write(info, 2);
  return Done{};
}

// Writes P, L and U of one matrix where the operator gives them.
struct Unpacked {
  Reals p, l, u;

  explicit Unpacked(const KernelContext& c)
      : p(c.output_types[0].shape), l(c.output_types[1].shape), u(c.output_types[2].shape) {}

  void put_factors(std::int64_t i, const Matrix& factors) {
    const std::int64_t k = std::min(factors.rows, factors.columns);
    Matrix lower(factors.rows, k);
    Matrix upper(k, factors.columns);
    for (std::int64_t row = 0; row < factors.rows; ++row)
      for (std::int64_t column = 0; column < factors.columns; ++column) {
        if (column < row && column < k) lower.at(row, column) = factors.at(row, column);
        if (column >= row && row < k) upper.at(row, column) = factors.at(row, column);
      }
    for (std::int64_t d = 0; d < k; ++d) lower.at(d, d) = 1;
    put_matrix(l, i, lower);
    put_matrix(u, i, upper);
  }

  Result<Done> write(KernelContext& c) {
    c.write(p, 0);
    c.write(l, 1);
    c.write(u, 2);
    return Done{};
  }
};

Result<Done> factor_and_unpack(KernelContext& c) {
  const Reals a = c.reals("A");
  Unpacked out(c);
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Lu lu = lu_factor(matrix_at(a, i), c.call.boolean("pivot"));
    if (c.call.boolean("pivot")) put_matrix(out.p, i, permutation(lu.pivots, lu.factors.rows));
    out.put_factors(i, lu.factors);
  }
  return out.write(c);
}

Result<Done> unpack(KernelContext& c) {
  const Reals a = c.reals("LU_data");
  const Integers all_pivots = c.integers("LU_pivots");
  Unpacked out(c);
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    if (c.call.boolean("unpack_data")) out.put_factors(i, matrix_at(a, i));
    if (!c.call.boolean("unpack_pivots")) continue;
    const auto pivots = pivots_at(all_pivots, i, rows);
    if (!pivots) return pivots.diagnostics();
    put_matrix(out.p, i, permutation(*pivots, rows));
  }
  return out.write(c);
}

// x A = b is A^T x^T = b^T.
Matrix solve(const Matrix& factors, const std::vector<std::int64_t>& pivots, const Matrix& b,
             bool left, bool adjoint) {
  if (left) return lu_solve(factors, pivots, b, adjoint);
  return transposed(lu_solve(factors, pivots, transposed(b), !adjoint));
}

Result<Done> solve_factored(KernelContext& c, std::string_view lu, std::string_view pivots,
                            std::string_view right, bool left, bool adjoint) {
  const Reals factors = c.reals(lu);
  const Integers all_pivots = c.integers(pivots);
  const Reals b = c.reals(right);
  Reals out(c.output_types[0].shape);
  const Shape batch = batch_shape(out.shape);
  for (std::int64_t i = 0; i < element_count(batch); ++i) {
    const std::int64_t at = broadcast_index(i, batch, batch_shape(factors.shape));
    const auto rows = pivots_at(all_pivots, at, factors.shape.back());
    if (!rows) return rows.diagnostics();
    const Matrix rhs = matrix_at(b, broadcast_index(i, batch, batch_shape(b.shape)));
    put_matrix(out, i, solve(matrix_at(factors, at), *rows, rhs, left, adjoint));
  }
  c.write(out);
  return Done{};
}

Result<Done> linalg_lu_solve(KernelContext& c) {
  return solve_factored(c, "LU", "pivots", "B", c.call.boolean("left"), c.call.boolean("adjoint"));
}

Result<Done> lu_solve_legacy(KernelContext& c) {
  return solve_factored(c, "LU_data", "LU_pivots", "self", true, false);
}

Diagnostic singular(const KernelContext& c, std::int64_t info) {
  return error(
      fmt::format("{}: the matrix is singular, its pivot {} is 0", c.call.op().name, info));
}

// linalg_solve, linalg_solve_ex and _linalg_solve_ex: the solution is the first output, the others
// by how many the operator has.
Result<Done> solve_system(KernelContext& c) {
  const Reals a = c.reals("A");
  Reals b = c.reals("B");
  Reals out(c.output_types[0].shape);
  const Shape written = out.shape;
  const std::int64_t order = a.shape.back();
  // Vectors are read as matrices of one column, as the rule did.
  const bool vectors = b.rank() == 1 || b.shape == Shape(a.shape.begin(), a.shape.end() - 1);
  if (vectors) {
    b.shape.push_back(1);
    out.shape.push_back(1);
  }
  const std::int64_t count = matrix_count(a.shape);
  Reals factors(a.shape);
  Integers pivots(Shape(a.shape.begin(), a.shape.end() - 1));
  Integers info(batch_shape(a.shape));
  for (std::int64_t i = 0; i < count; ++i) {
    const Lu lu = lu_factor(matrix_at(a, i));
    put_matrix(factors, i, lu.factors);
    put_pivots(pivots, i, lu.pivots);
    info[i] = lu.info;
    const bool must = c.outputs.size() == 1 || c.call.boolean("check_errors");
    if (lu.info != 0 && must) return singular(c, lu.info);
  }
  const bool left = c.call.boolean("left");
  const Shape batch = batch_shape(out.shape);
  for (std::int64_t i = 0; order > 0 && i < element_count(batch); ++i) {
    const std::int64_t at = broadcast_index(i, batch, batch_shape(a.shape));
    const auto rows = pivots_at(pivots, at, order);
    if (!rows) return rows.diagnostics();
    const Matrix rhs = matrix_at(b, broadcast_index(i, batch, batch_shape(b.shape)));
    put_matrix(out, i, solve(matrix_at(factors, at), *rows, rhs, left, false));
  }
  out.shape = written;
  c.write(out, 0);
  if (c.outputs.size() == 2) c.write(info, 1);
  if (c.outputs.size() != 4) return Done{};
  c.write(factors, 1);
  c.write(pivots, 2);
  c.write(info, 3);
  return Done{};
}

// linalg_inv, inverse and linalg_inv_ex.
Result<Done> inverse(KernelContext& c) {
  const Reals a = c.reals(first_parameter(c));
  Reals out(a.shape);
  Integers info(batch_shape(a.shape));
  const bool with_info = c.outputs.size() > 1;
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Lu lu = lu_factor(matrix_at(a, i));
    info[i] = lu.info;
    if (lu.info != 0 && (!with_info || c.call.boolean("check_errors"))) return singular(c, lu.info);
    put_matrix(
        out, i,
        lu_solve(lu.factors, lu.pivots, Matrix::identity(lu.factors.rows, lu.factors.rows), false));
  }
  c.write(out, 0);
  if (with_info) c.write(info, 1);
  return Done{};
}

// Sign and logarithm of the absolute value of a determinant, and the determinant itself.
struct Determinant {
  double value = 1;
  double sign = 1;
  double log_absolute = 0;

  explicit Determinant(const Lu& lu) {
    for (std::size_t k = 0; k < lu.pivots.size(); ++k) {
      const auto row = static_cast<std::int64_t>(k);
      const double pivot = lu.factors.at(row, row);
      const double swapped = lu.pivots[k] == row + 1 ? 1.0 : -1.0;
      value *= swapped * pivot;
      sign *= pivot == 0 ? 0.0 : swapped * std::copysign(1.0, pivot);
      log_absolute += std::log(std::abs(pivot));
    }
  }
};

// _linalg_det, linalg_det, _linalg_slogdet and linalg_slogdet, which differ in their first outputs
// and in whether factors follow. The factors of a contiguous matrix are its transpose's: ATen saves
// a copy so, and their gradients count on it.
Result<Done> determinant(KernelContext& c, bool logarithm) {
  const Reals a = c.reals("A");
  const std::size_t leading = logarithm ? 2 : 1;
  Reals first(c.output_types[0].shape);
  Reals second(first.shape);
  Reals factors(a.shape);
  Integers pivots(Shape(a.shape.begin(), a.shape.end() - 1));
  const bool factors_transpose = is_contiguous(c.call.tensor("A"));
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Matrix m = matrix_at(a, i);
    const Lu lu = lu_factor(factors_transpose ? transposed(m) : m);
    const Determinant d(lu);
    first[i] = logarithm ? d.sign : d.value;
    second[i] = d.log_absolute;
    put_matrix(factors, i, lu.factors);
    put_pivots(pivots, i, lu.pivots);
  }
  c.write(first, 0);
  if (logarithm) c.write(second, 1);
  if (c.outputs.size() == leading) return Done{};
  c.write(factors, leading);
  c.write(pivots, leading + 1);
  return Done{};
}

Result<Done> det(KernelContext& c) { return determinant(c, false); }
Result<Done> slogdet(KernelContext& c) { return determinant(c, true); }

}  // namespace

void add_lu_kernels(KernelTable& t) {
  t.add(Op::linalg_lu_factor, factor_lu);
  t.add(Op::linalg_lu_factor_ex, factor_lu);
  t.add(Op::linalg_lu, factor_and_unpack);
  t.add(Op::lu_unpack, unpack);
  t.add(Op::linalg_lu_solve, linalg_lu_solve);
  t.add(Op::lu_solve, lu_solve_legacy);
  for (const Op op : {Op::_linalg_solve_ex, Op::linalg_solve_ex, Op::linalg_solve})
    t.add(op, solve_system);
  for (const Op op : {Op::linalg_inv_ex, Op::linalg_inv, Op::inverse}) t.add(op, inverse);
  t.add(Op::_linalg_det, det);
  t.add(Op::linalg_det, det);
  t.add(Op::_linalg_slogdet, slogdet);
  t.add(Op::linalg_slogdet, slogdet);
}

}  // namespace recut

// LU factorisations, solutions, inverses and determinants. One matrix of a batch is in scratch
// while its rows are exchanged and eliminated, as LAPACK's dgetrf does it.
#include <algorithm>

#include "engine/codegen/lower/nests/scratch_matrix.h"

namespace recut::loop {
namespace {

// The row that a step of the elimination exchanged with its own.
using PivotRow = std::function<Index(const Index& step)>;

// Exchanges rows in the order of the steps, or in the reverse order.
void swap_rows(const MatrixWork& work, const ScratchMatrix& a, std::int64_t steps,
               const PivotRow& pivot_row, bool backwards) {
  work.each(steps, [&](const Index& step) {
    const Index i = backwards ? Index(steps - 1) - step : step;
    const Index other = pivot_row(i);
    work.each(a.columns, [&](const Index& j) { work.swap(a, {i, j}, {other, j}); });
  });
}

class LuNest {
 public:
  LuNest(const MatrixWork& w, std::int64_t rows, std::int64_t columns)
      : work(w),
        factors(w.matrix("factors", rows, columns)),
        steps(std::min(rows, columns)),
        pivots(w.integers("pivots", steps)),
        info(w.integers("info", 1)),
        row_(w.integers("row", 1)),
        largest_(w.matrix("largest", 1, 1)) {}

  // Scratch elements that it takes.
  static std::int64_t numbers(std::int64_t rows, std::int64_t columns) {
    return rows * columns + std::min(rows, columns) + 4;
  }

  // Factors a matrix in place: `factors` or its transpose.
  void factor(const ScratchMatrix& a, bool pivot) const {
    info.write(0, work.whole(0));
    work.each(steps, [&](const Index& k) {
      row_.write(0, work.number(k));
      if (pivot) find_largest(a, k);
      const Index row = Nest::checked_index(work.nest.lowering, row_.read(0), a.rows, false);
      pivots.write(k, work.number(row) + 1.0);
      const ScalarExpr zero = a.at(row, k) == 0.0;
      work.when(zero & (info.read(0) == 0.0), [&] { info.write(0, work.number(k) + 1.0); });
      work.when(!zero, [&] {
        if (pivot) work.each(a.columns, [&](const Index& j) { work.swap(a, {k, j}, {row, j}); });
        eliminate(a, k);
      });
    });
  }

  PivotRow pivot_row() const {
    return [this](const Index& step) {
      return Nest::checked_index(work.nest.lowering, pivots.read(step) - 1.0, factors.rows, false);
    };
  }

  // The outputs for pivots and info; -1: the call has none.
  void write_steps(const Indices& batch, int pivots_output, int info_output) const {
    if (const auto o = static_cast<std::size_t>(pivots_output); pivots_output >= 0)
      work.write_vector(o, batch, [&](const Index& k) { return pivots.read(k); });
    if (const auto o = static_cast<std::size_t>(info_output); info_output >= 0)
      work.write_number(o, batch, info.read(0));
  }

  const MatrixWork& work;
  const ScratchMatrix factors;
  const std::int64_t steps;
  const Scratch pivots;  // from 1
  const Scratch info;    // place of the first zero pivot, from 1; 0: none

 private:
  // The pivot: the first row from k on with the largest element of column k.
  void find_largest(const ScratchMatrix& a, const Index& k) const {
    largest_.put(0, 0, abs(a.at(k, k)));
    work.each_after(k, a.rows, [&](const Index& i) {
      const ScalarExpr size = abs(a.at(i, k));
      work.when(size > largest_.at(0, 0), [&] {
        largest_.put(0, 0, size);
        row_.write(0, work.number(i));
      });
    });
  }

  void eliminate(const ScratchMatrix& a, const Index& k) const {
    const ScalarExpr pivot = a.at(k, k);
    work.each_after(k, a.rows, [&](const Index& i) {
      const ScalarExpr factor = a.at(i, k) / pivot;
      a.put(i, k, factor);
      work.each_after(k, a.columns,
                      [&](const Index& j) { a.put(i, j, a.at(i, j) - factor * a.at(k, j)); });
    });
  }

  const Scratch row_;
  const ScratchMatrix largest_;
};

// b := A^-1 b from A's factors, or with A transposed.
void solve_factored(const MatrixWork& work, const ScratchMatrix& factors, const PivotRow& pivot_row,
                    const ScratchMatrix& b, bool adjoint) {
  const Triangle lower{.upper = false, .unit = true}, upper{.upper = true};
  if (!adjoint) {
    swap_rows(work, b, factors.rows, pivot_row, false);
    solve_triangular(work, factors, lower, b);
    solve_triangular(work, factors, upper, b);
  } else {
    solve_triangular(work, factors.transposed(), upper.transposed(), b);
    solve_triangular(work, factors.transposed(), lower.transposed(), b);
    swap_rows(work, b, factors.rows, pivot_row, true);
  }
}

// x A = b is A^T x^T = b^T.
void solve(const MatrixWork& work, const ScratchMatrix& factors, const PivotRow& pivot_row,
           const ScratchMatrix& b, bool left, bool adjoint) {
  solve_factored(work, factors, pivot_row, left ? b : b.transposed(), left ? adjoint : !adjoint);
}

// Factors
// --------------------------------------------------------------------------------------------

void lu_factor(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("A");
  const bool with_info = nest.call.op().op == Op::linalg_lu_factor_ex;
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const LuNest lu(work, matrix_rows(shape), shape.back());
    work.read(lu.factors, "A", at);
    lu.factor(lu.factors, nest.call.boolean("pivot"));
    work.write(0, at, lu.factors);
    lu.write_steps(at, 1, with_info ? 2 : -1);
  });
}

// The permutation matrix as the column of each row's 1.
void write_permutation(const MatrixWork& work, const Indices& at, const ScratchMatrix& columns,
                       std::int64_t steps, const PivotRow& pivot_row) {
  work.fill(columns, [&](const Index& i, const Index&) { return work.number(i); });
  swap_rows(work, columns, steps, pivot_row, true);
  work.write(0, at, [&](const Index& i, const Index& j) {
    return (columns.at(i, 0) == work.number(j).to(DType::f64)).to(DType::f64);
  });
}

void write_factors(const MatrixWork& work, const Indices& at, const ScratchMatrix& factors) {
  const Triangle lower{.upper = false, .unit = true}, upper{.upper = true};
  work.write(1, at, [&](const Index& i, const Index& j) {
    return triangle_element(work, factors, lower, i, j);
  });
  work.write(2, at, [&](const Index& i, const Index& j) {
    return triangle_element(work, factors, upper, i, j);
  });
}

void linalg_lu(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("A");
  const std::int64_t rows = matrix_rows(shape);
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const LuNest lu(work, rows, shape.back());
    work.read(lu.factors, "A", at);
    lu.factor(lu.factors, nest.call.boolean("pivot"));
    if (nest.is_requested(0))
      write_permutation(work, at, work.matrix("columns", rows, 1), lu.steps, lu.pivot_row());
    write_factors(work, at, lu.factors);
  });
}

// Reads pivots from an operand; each has to name a row.
PivotRow given_pivots(const Nest& nest, std::string_view parameter, const Indices& batch,
                      std::int64_t rows) {
  const Shape& shape = nest.shape_of(parameter);
  const Indices position = broadcast_index(batch, Shape(shape.begin(), shape.end() - 1));
  return [&nest, parameter, position, rows](const Index& step) {
    Indices at = position;
    at.push_back(step);
    return nest.checked(nest.raw(parameter, at).to(DType::i64) - 1.0, rows, false);
  };
}

void lu_unpack(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("LU_data");
  const std::int64_t rows = matrix_rows(shape);
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    if (nest.is_requested(0))
      write_permutation(work, at, work.matrix("columns", rows, 1),
                        nest.shape_of("LU_pivots").back(),
                        given_pivots(nest, "LU_pivots", at, rows));
    if (!nest.is_requested(1) && !nest.is_requested(2)) return;
    const ScratchMatrix factors = work.matrix("factors", rows, shape.back());
    work.read(factors, "LU_data", at);
    write_factors(work, at, factors);
  });
}

// Solutions
// ------------------------------------------------------------------------------------------

void lu_solve(const Nest& nest, std::string_view lu, std::string_view pivots,
              std::string_view right, bool left, bool adjoint) {
  const MatrixWork work(nest);
  const Shape& shape = nest.type().shape;
  const std::int64_t order = nest.shape_of(lu).back();
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const ScratchMatrix factors = work.matrix("factors", order, order);
    const ScratchMatrix b = work.matrix("right", matrix_rows(shape), shape.back());
    work.read(factors, lu, at);
    work.read(b, right, at);
    solve(work, factors, given_pivots(nest, pivots, at, order), b, left, adjoint);
    work.write(0, at, b);
  });
}

void linalg_lu_solve(const Nest& nest) {
  lu_solve(nest, "LU", "pivots", "B", nest.call.boolean("left"), nest.call.boolean("adjoint"));
}

void solve_by_packed_factors(const Nest& nest) {
  lu_solve(nest, "LU_data", "LU_pivots", "self", true, false);
}

// Vectors are read as matrices of one column.
bool has_vectors(const Call& call) {
  const Shape& a = call.tensor("A").shape;
  const Shape& b = call.tensor("B").shape;
  return b.size() == 1 || b == Shape(a.begin(), a.end() - 1);
}

// linalg_solve, linalg_solve_ex and _linalg_solve_ex differ in their outputs after the solution:
// none, info, or the whole factorisation.
class System {
 public:
  explicit System(const Nest& nest)
      : nest_(nest), work_(nest), shape_(nest.shape_of("A")), vectors_(has_vectors(nest.call)) {}

  // A matrix that several systems share is factored again for each one.
  void build() const {
    const bool has_own = solution_batch() == batch_shape(shape_);
    work_.for_each_matrix(batch_shape(shape_), [&](const Indices& at) {
      const LuNest lu = factored(at);
      write_factorisation(at, lu);
      if (has_own && nest_.is_requested(0)) write_solution(at, lu);
    });
    if (has_own || !nest_.is_requested(0)) return;
    work_.for_each_matrix(solution_batch(),
                          [&](const Indices& at) { write_solution(at, factored(at)); });
  }

 private:
  LuNest factored(const Indices& at) const {
    const LuNest lu(work_, shape_.back(), shape_.back());
    work_.read(lu.factors, "A", broadcast_index(at, batch_shape(shape_)));
    lu.factor(lu.factors, true);
    return lu;
  }
  Shape solution_batch() const {
    const Shape& out = nest_.type().shape;
    return vectors_ ? Shape(out.begin(), out.end() - 1) : batch_shape(out);
  }

  void write_factorisation(const Indices& at, const LuNest& lu) const {
    const Op op = nest_.call.op().op;
    const bool with_factors = op == Op::_linalg_solve_ex;
    const int info = with_factors ? 3 : op == Op::linalg_solve_ex ? 1 : -1;
    if (with_factors) work_.write(1, at, lu.factors);
    lu.write_steps(at, with_factors ? 2 : -1, info);
    if (info < 0 || nest_.call.boolean("check_errors")) work_.require_zero(lu.info.read(0));
  }

  void write_solution(const Indices& at, const LuNest& lu) const {
    const Shape& out = nest_.type().shape;
    const ScratchMatrix b = vectors_ ? work_.matrix("right", out.back(), 1)
                                     : work_.matrix("right", matrix_rows(out), out.back());
    if (vectors_)
      work_.read_vector(b, "B", at);
    else
      work_.read(b, "B", at);
    solve(work_, lu.factors, lu.pivot_row(), b, nest_.call.boolean("left"), false);
    if (vectors_)
      work_.write_vector(0, at, [&](const Index& i) { return b.at(i, 0); });
    else
      work_.write(0, at, b);
  }

  const Nest& nest_;
  const MatrixWork work_;
  const Shape& shape_;
  const bool vectors_;
};

void solve_system(const Nest& nest) { System(nest).build(); }

void inverse(const Nest& nest) {
  const MatrixWork work(nest);
  const std::string_view operand = first_parameter(nest.call);
  const Shape& shape = nest.shape_of(operand);
  const bool with_info = nest.call.op().op == Op::linalg_inv_ex;
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const LuNest lu(work, shape.back(), shape.back());
    work.read(lu.factors, operand, at);
    lu.factor(lu.factors, true);
    lu.write_steps(at, -1, with_info ? 1 : -1);
    if (!with_info || nest.call.boolean("check_errors")) work.require_zero(lu.info.read(0));
    const ScratchMatrix b = work.matrix("inverse", shape.back(), shape.back());
    work.fill_identity(b);
    solve_factored(work, lu.factors, lu.pivot_row(), b, false);
    work.write(0, at, b);
  });
}

// Determinants
// ---------------------------------------------------------------------------------------

// The sign and the logarithm of the absolute determinant, and the determinant itself.
struct Determinant {
  ScratchMatrix value, sign, log_absolute;

  explicit Determinant(const MatrixWork& work)
      : value(work.matrix("value", 1, 1)),
        sign(work.matrix("sign", 1, 1)),
        log_absolute(work.matrix("log_absolute", 1, 1)) {}

  void multiply(const MatrixWork& work, const LuNest& lu, const ScratchMatrix& factors) const {
    value.put(0, 0, work.real(1));
    sign.put(0, 0, work.real(1));
    log_absolute.put(0, 0, work.real(0));
    work.each(lu.steps, [&](const Index& k) {
      const ScalarExpr pivot = factors.at(k, k);
      const ScalarExpr swapped =
          select(lu.pivots.read(k) == work.number(k) + 1.0, work.real(1), work.real(-1));
      const ScalarExpr pack_transposed = select(pivot == 0.0, work.real(0), copysign(1.0, pivot));
      value.put(0, 0, value.at(0, 0) * (swapped * pivot));
      sign.put(0, 0, sign.at(0, 0) * (swapped * pack_transposed));
      log_absolute.put(0, 0, log_absolute.at(0, 0) + log(abs(pivot)));
    });
  }
};

// The first outputs are the determinant, or its sign and logarithm; factors may follow. For a
// contiguous matrix they are those of its transpose, as in eval.
void determinant(const Nest& nest, bool logarithm, bool with_factors) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("A");
  const std::size_t leading = logarithm ? 2 : 1;
  const bool transposed = is_contiguous(nest.call.tensor("A"));
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const LuNest lu(work, shape.back(), shape.back());
    work.read(transposed ? lu.factors.transposed() : lu.factors, "A", at);
    lu.factor(lu.factors, true);
    const Determinant d(work);
    d.multiply(work, lu, lu.factors);
    work.write_number(0, at, (logarithm ? d.sign : d.value).at(0, 0));
    if (logarithm) work.write_number(1, at, d.log_absolute.at(0, 0));
    if (!with_factors) return;
    work.write(leading, at, lu.factors);
    lu.write_steps(at, static_cast<int>(leading) + 1, -1);
  });
}

template <bool logarithm, bool with_factors>
void determinant(const Nest& nest) {
  determinant(nest, logarithm, with_factors);
}

// Supported calls
// ------------------------------------------------------------------------------------------

std::optional<std::string> factors_too_large_lu(const Call& call) {
  const Shape& shape = call.tensor(first_parameter(call)).shape;
  return beyond_scratch(LuNest::numbers(matrix_rows(shape), shape.back()) + matrix_rows(shape) + 8);
}

std::optional<std::string> inverse_too_large_lu(const Call& call) {
  const std::int64_t order = call.tensor(first_parameter(call)).shape.back();
  return beyond_scratch(LuNest::numbers(order, order) + order * order);
}

std::optional<std::string> system_too_large_lu(const Call& call) {
  const std::string_view factors = call.op().op == Op::lu_solve ? "LU_data" : first_parameter(call);
  const std::string_view right = call.op().op == Op::lu_solve ? "self" : "B";
  const std::int64_t order = call.tensor(factors).shape.back();
  const Shape& b = call.tensor(right).shape;
  const bool vectors = call.op().parameter("A") && has_vectors(call);
  return beyond_scratch(LuNest::numbers(order, order) +
                        (vectors ? b.back() : matrix_rows(b) * b.back()));
}

}  // namespace

void add_lu_nests(NestTable& table) {
  table.push_back({Op::linalg_lu_factor, lu_factor, factors_too_large_lu});
  table.push_back({Op::linalg_lu_factor_ex, lu_factor, factors_too_large_lu});
  table.push_back({Op::linalg_lu, linalg_lu, factors_too_large_lu});
  table.push_back({Op::lu_unpack, lu_unpack, factors_too_large_lu});
  table.push_back({Op::linalg_lu_solve, linalg_lu_solve, system_too_large_lu});
  table.push_back({Op::lu_solve, solve_by_packed_factors, system_too_large_lu});
  for (const Op op : {Op::_linalg_solve_ex, Op::linalg_solve_ex, Op::linalg_solve})
    table.push_back({op, solve_system, system_too_large_lu});
  for (const Op op : {Op::linalg_inv_ex, Op::linalg_inv, Op::inverse})
    table.push_back({op, inverse, inverse_too_large_lu});
  table.push_back({Op::_linalg_det, determinant<false, true>, factors_too_large_lu});
  table.push_back({Op::linalg_det, determinant<false, false>, factors_too_large_lu});
  table.push_back({Op::_linalg_slogdet, determinant<true, true>, factors_too_large_lu});
  table.push_back({Op::linalg_slogdet, determinant<true, false>, factors_too_large_lu});
}

}  // namespace recut::loop

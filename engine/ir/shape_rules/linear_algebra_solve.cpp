// Rules of linear solves (Cholesky, LU, LDL, triangular), least squares and pseudo-inverses.
// Batches broadcast; a right-hand side may be a vector, by the rule of torch.linalg.solve.
#include <algorithm>

#include "engine/ir/shape_rules/linear_algebra.h"

namespace recut::rules {
namespace {

struct System {
  Shape batch;
  std::int64_t rows = 0;  // of the solution
  std::int64_t columns = 0;
};

// A x = B (left) or x A = B with square A; batches broadcast.
Result<System> read_system(const TensorType& a, const TensorType& b, bool left) {
  const auto ma = square_matrices_of(a);
  if (!ma) return ma.diagnostics();
  const auto mb = matrices_of(b);
  if (!mb) return mb.diagnostics();
  if ((left ? mb->rows : mb->columns) != ma->rows || a.dtype != b.dtype)
    return error(fmt::format("{} and {} make no system of equations", format(a), format(b)));
  auto batch = broadcast(ma->batch, mb->batch);
  if (!batch) return batch.diagnostics();
  return System{std::move(*batch), mb->rows, mb->columns};
}

Inferred solution(const TensorType& a, const TensorType& b, bool left) {
  auto s = read_system(a, b, left);
  if (!s) return s.diagnostics();
  return one(column_major(b, std::move(s->batch), s->rows, s->columns));
}

// One pivot a row of the factors.
Result<Done> check_pivots(const TensorType& factors, const TensorType& pivots) {
  if (pivots.dtype == DType::i32 &&
      pivots.shape == Shape(factors.shape.begin(), factors.shape.end() - 1))
    return Done{};
  return error(fmt::format("pivots {} for factors {}", format(pivots), format(factors)));
}

Inferred factored(const TensorType& factors, const TensorType& pivots, const TensorType& b,
                  bool left) {
  const auto square = square_matrices_of(factors);
  if (!square) return square.diagnostics();
  const auto fits = check_pivots(factors, pivots);
  return fits ? solution(factors, b, left) : Inferred(fits.diagnostics());
}

// linalg.solve reads B as vectors where its shape is A's without the last dimension, or where it
// has one dimension.
bool is_vectors(const TensorType& a, const TensorType& b) {
  if (b.rank() == 1) return true;
  return a.rank() - 1 == b.rank() && !a.shape.empty() &&
         std::equal(b.shape.begin(), b.shape.end(), a.shape.begin());
}

}  // namespace

Inferred cholesky_solve(const Call& call) {
  return solution(call.tensor(call.op().parameters[1].name), call.tensor("self"), true);
}

Inferred linalg_lu_solve(const Call& call) {
  return factored(call.tensor("LU"), call.tensor("pivots"), call.tensor("B"), call.boolean("left"));
}

Inferred lu_solve(const Call& call) {
  return factored(call.tensor("LU_data"), call.tensor("LU_pivots"), call.tensor("self"), true);
}

Inferred linalg_ldl_solve(const Call& call) {
  return factored(call.tensor("LD"), call.tensor("pivots"), call.tensor("B"), true);
}

Inferred linalg_solve_triangular(const Call& call) {
  return solution(call.tensor("self"), call.tensor("B"), call.boolean("left"));
}

Inferred triangular_solve(const Call& call) {
  const TensorType& a = call.tensor("A");
  auto s = read_system(a, call.tensor("self"), true);
  if (!s) return s.diagnostics();
  const std::int64_t order = a.shape.back();
  TensorType x = column_major(a, s->batch, s->rows, s->columns);
  return Types{std::move(x), column_major(a, std::move(s->batch), order, order)};
}

Inferred linalg_solve_with_factors(const Call& call) {
  const TensorType& a = call.tensor("A");
  const auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  TensorType b = call.tensor("B");
  const bool vector = is_vectors(a, b);
  const bool left = call.boolean("left");
  if (vector && !left) return error("B is a vector, and left is false");
  if (vector)
    b = numbers(b.dtype, b, [&] {
      Shape with_column = b.shape;
      with_column.push_back(1);
      return with_column;
    }());
  auto types = solution(a, b, left);
  if (!types) return types;
  if (vector) {
    types->front().shape.pop_back();
    types->front().strides.pop_back();
  }
  types->push_back(column_major(a, m->batch, m->rows, m->columns));
  types->push_back(vectors(DType::i32, a, m->batch, m->rows));
  types->push_back(numbers(DType::i32, a, m->batch));
  return types;
}

Inferred linalg_solve(const Call& call) {
  auto types = linalg_solve_with_factors(call);
  if (!types) return types;
  if (call.op().outputs == 2) return Types{types->front(), types->back()};
  return one(types->front());
}

Inferred linalg_lstsq(const Call& call) {
  const TensorType& a = call.tensor("self");
  const auto ma = matrices_of(a);
  if (!ma) return ma.diagnostics();
  TensorType b = call.tensor("b");
  const bool vector = b.rank() == a.rank() - 1;
  if (vector) b.shape.push_back(1);
  const auto mb = matrices_of(b);
  if (!mb) return mb.diagnostics();
  auto batch = broadcast(ma->batch, mb->batch);
  if (!batch || ma->rows != mb->rows || a.dtype != b.dtype)
    return error(
        fmt::format("{} and {} make no system of equations", format(a), format(call.tensor("b"))));
  TensorType x = column_major(a, *batch, ma->columns, mb->columns);
  if (vector) {
    x.shape.pop_back();
    x.strides.pop_back();
  }
  // Residuals exist where there are more equations than unknowns and the driver finds full rank;
  // ranks and singular values by driver.
  const std::string_view driver = call.text("driver");
  const bool ranked = driver != "gels";
  const bool valued = driver == "gelsd" || driver == "gelss";
  const TensorType nothing = make_type(a.dtype, {0}, a.device);
  const TensorType no_rank = make_type(DType::i64, {0}, a.device);
  return Types{std::move(x),
               ma->rows > ma->columns && driver != "gelsy" && !driver.empty()
                   ? vectors(a.dtype, a, *batch, mb->columns)
                   : nothing,
               ranked ? numbers(DType::i64, a, ma->batch) : no_rank,
               valued ? vectors(a.dtype, a, ma->batch, std::min(ma->rows, ma->columns)) : nothing};
}

Inferred linalg_pinv(const Call& call) {
  const TensorType& a = call.tensor("self");
  const auto m = call.boolean("hermitian") ? square_matrices_of(a) : matrices_of(a);
  if (!m) return m.diagnostics();
  for (const std::string_view tolerance : {"atol", "rtol"}) {
    if (!call.op().parameter(tolerance) || !call.is_tensor(tolerance)) continue;
    const auto both = broadcast(call.tensor(tolerance).shape, m->batch);
    if (!both || *both != m->batch)
      return error(fmt::format("{} of shape {} for a batch of {}", tolerance,
                               format_shape(call.tensor(tolerance).shape), format_shape(m->batch)));
  }
  return one(row_major(a, m->batch, m->columns, m->rows));
}

}  // namespace recut::rules

// Cholesky factorisations, and solving with triangles.
#include <fmt/core.h>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/matrices.h"

namespace recut {
namespace {

// cholesky, linalg_cholesky and linalg_cholesky_ex. Only the triangle that is asked for is read.
Result<Done> cholesky(KernelContext& c) {
  const Reals a = c.reals("self");
  const bool upper = c.call.boolean("upper");
  const bool with_info = c.outputs.size() > 1;
  Reals out(a.shape);
  Integers info(batch_shape(a.shape));
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Matrix m = matrix_at(a, i);
    Cholesky result = cholesky_factor(upper ? transposed(m) : m);
    info[i] = result.info;
    if (result.info != 0 && (!with_info || c.call.boolean("check_errors")))
      return error(fmt::format("{}: the minor of order {} is not positive definite",
                               c.call.op().name, result.info));
    put_matrix(out, i, upper ? transposed(result.factor) : result.factor);
  }
  c.write(out, 0);
  if (with_info) c.write(info, 1);
  return Done{};
}

// b := (L L^T)^-1 b, or with U^T U.
void solve_with_factor(const Matrix& factor, bool upper, Matrix& b) {
  solve_triangular(factor, {.upper = upper, .transposed = upper}, b);
  solve_triangular(factor, {.upper = upper, .transposed = !upper}, b);
}

Result<Done> cholesky_inverse(KernelContext& c) {
  const Reals a = c.reals("self");
  Reals out(a.shape);
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Matrix factor = matrix_at(a, i);
    Matrix inverse = Matrix::identity(factor.rows, factor.rows);
    solve_with_factor(factor, c.call.boolean("upper"), inverse);
    put_matrix(out, i, inverse);
  }
  c.write(out);
  return Done{};
}

// Calls solve(matrix of a, matrix of b) for every pair of a broadcast batch and writes the
// resulting b.
template <class Solve>
Reals for_each_system(const KernelContext& c, const Reals& a, const Reals& b, Solve&& solve) {
  Reals out(c.output_types[0].shape);
  const Shape batch = batch_shape(out.shape);
  for (std::int64_t i = 0; i < element_count(batch); ++i) {
    Matrix x = matrix_at(b, broadcast_index(i, batch, batch_shape(b.shape)));
    solve(matrix_at(a, broadcast_index(i, batch, batch_shape(a.shape))), x);
    put_matrix(out, i, x);
  }
  return out;
}

Result<Done> cholesky_solve(KernelContext& c) {
  const Reals factor = c.reals(c.call.op().parameters[1].name);
  const bool upper = c.call.boolean("upper");
  c.write(for_each_system(c, factor, c.reals("self"),
                          [&](const Matrix& a, Matrix& x) { solve_with_factor(a, upper, x); }));
  return Done{};
}

Result<Done> linalg_solve_triangular(KernelContext& c) {
  const bool left = c.call.boolean("left");
  const Triangle triangle{c.call.boolean("upper"), c.call.boolean("unitriangular"), !left};
  c.write(for_each_system(c, c.reals("self"), c.reals("B"), [&](const Matrix& a, Matrix& x) {
    if (!left) x = transposed(x);  // x A = B is A^T x^T = B^T
    solve_triangular(a, triangle, x);
    if (!left) x = transposed(x);
  }));
  return Done{};
}

Result<Done> triangular_solve(KernelContext& c) {
  const Triangle triangle{c.call.boolean("upper"), c.call.boolean("unitriangular"),
                          c.call.boolean("transpose")};
  const Reals a = c.reals("A");
  c.write(for_each_system(c, a, c.reals("self"),
                          [&](const Matrix& m, Matrix& x) { solve_triangular(m, triangle, x); }),
          0);
  c.write(elementwise::broadcast_to(a, c.output_types[1].shape), 1);
  return Done{};
}

}  // namespace

void add_cholesky_kernels(KernelTable& t) {
  for (const Op op : {Op::cholesky, Op::linalg_cholesky, Op::linalg_cholesky_ex})
    t.add(op, cholesky);
  t.add(Op::cholesky_inverse, cholesky_inverse);
  t.add(Op::cholesky_solve, cholesky_solve);
  t.add(Op::_cholesky_solve_helper, cholesky_solve);
  t.add(Op::linalg_solve_triangular, linalg_solve_triangular);
  t.add(Op::triangular_solve, triangular_solve);
}

}  // namespace recut

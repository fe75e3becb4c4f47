// Cholesky factorisations and triangular solves. One matrix of a batch is in scratch.
#include "engine/codegen/lower/nests/scratch_matrix.h"

namespace recut::loop {
namespace {

// Computes the lower factor in place from the lower triangle, as LAPACK's dpotrf. `info` becomes
// the order of the first minor that is not positive, from 1, or 0; columns from there on stay
// unchanged.
void factor_cholesky(const MatrixWork& work, const ScratchMatrix& l, const Scratch& info) {
  const auto subtract_products = [&](const Index& i, const Index& j) {
    work.each_before(j, l.rows,
                     [&](const Index& k) { l.put(i, j, l.at(i, j) - l.at(i, k) * l.at(j, k)); });
  };
  const auto finish_column = [&](const Index& j, const ScalarExpr& root) {
    l.put(j, j, root);
    work.each_after(j, l.rows, [&](const Index& i) {
      subtract_products(i, j);
      l.put(i, j, l.at(i, j) / root);
    });
  };
  info.write(0, work.whole(0));
  work.each(l.rows, [&](const Index& j) {
    work.when(info.read(0) == 0.0, [&] {
      subtract_products(j, j);
      const ScalarExpr square = l.at(j, j);
      work.when(!(square > 0.0), [&] { info.write(0, work.number(j) + 1.0); });  // NaN too
      work.when(square > 0.0, [&] { finish_column(j, sqrt(square)); });
    });
  });
}

// cholesky, linalg_cholesky and linalg_cholesky_ex. Only the requested triangle is read.
void cholesky(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("self");
  const bool upper = nest.call.boolean("upper");
  const bool with_info = nest.call.op().op == Op::linalg_cholesky_ex;
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const ScratchMatrix l = work.matrix("factor", shape.back(), shape.back());
    const Scratch info = work.integers("info", 1);
    work.read(upper ? l.transposed() : l, "self", at);
    factor_cholesky(work, l, info);
    work.write(0, at, [&](const Index& i, const Index& j) {
      return triangle_element(work, l, {}, upper ? j : i, upper ? i : j);
    });
    if (with_info) work.write_number(1, at, info.read(0));
    if (!with_info || nest.call.boolean("check_errors")) work.require_zero(info.read(0));
  });
}

// b := (L L^T)^-1 b, or with U^T U.
void solve_with_factor(const MatrixWork& work, const ScratchMatrix& factor, bool upper,
                       const ScratchMatrix& b) {
  const Triangle triangle{.upper = upper};
  const auto solve = [&](bool transposed) {
    solve_triangular(work, transposed ? factor.transposed() : factor,
                     transposed ? triangle.transposed() : triangle, b);
  };
  solve(upper);
  solve(!upper);
}

void cholesky_inverse(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("self");
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const ScratchMatrix factor = work.matrix("factor", shape.back(), shape.back());
    const ScratchMatrix inverse = work.matrix("inverse", shape.back(), shape.back());
    work.read(factor, "self", at);
    work.fill_identity(inverse);
    solve_with_factor(work, factor, nest.call.boolean("upper"), inverse);
    work.write(0, at, inverse);
  });
}

// Solves a system with broadcast batches; the solution overwrites the right-hand sides, and is the
// first output.
void for_each_system(const Nest& nest, std::string_view matrix, std::string_view right,
                     const std::function<void(const MatrixWork&, const ScratchMatrix&,
                                              const ScratchMatrix&)>& solve) {
  if (!nest.is_requested(0)) return;
  const MatrixWork work(nest);
  const Shape& shape = nest.type().shape;
  const std::int64_t order = nest.shape_of(matrix).back();
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const ScratchMatrix a = work.matrix("matrix", order, order);
    const ScratchMatrix b = work.matrix("right", matrix_rows(shape), shape.back());
    work.read(a, matrix, at);
    work.read(b, right, at);
    solve(work, a, b);
    work.write(0, at, b);
  });
}

std::string_view second_parameter(const Call& call) { return call.op().parameters[1].name; }

void cholesky_solve(const Nest& nest) {
  const bool upper = nest.call.boolean("upper");
  for_each_system(nest, second_parameter(nest.call), "self",
                  [&](const MatrixWork& work, const ScratchMatrix& factor, const ScratchMatrix& b) {
                    solve_with_factor(work, factor, upper, b);
                  });
}

// x A = B is A^T x^T = B^T.
void linalg_solve_triangular(const Nest& nest) {
  const Triangle triangle{nest.call.boolean("upper"), nest.call.boolean("unitriangular")};
  const bool left = nest.call.boolean("left");
  for_each_system(nest, "self", "B",
                  [&](const MatrixWork& work, const ScratchMatrix& a, const ScratchMatrix& b) {
                    if (left)
                      solve_triangular(work, a, triangle, b);
                    else
                      solve_triangular(work, a.transposed(), triangle.transposed(), b.transposed());
                  });
}

void triangular_solve(const Nest& nest) {
  const Triangle triangle{nest.call.boolean("upper"), nest.call.boolean("unitriangular")};
  const bool transposed = nest.call.boolean("transpose");
  for_each_system(nest, "A", "self",
                  [&](const MatrixWork& work, const ScratchMatrix& a, const ScratchMatrix& b) {
                    solve_triangular(work, transposed ? a.transposed() : a,
                                     transposed ? triangle.transposed() : triangle, b);
                  });
  if (!nest.is_requested(1)) return;
  const Layout copy = output_layout(nest.type(1));
  nest.lowering.for_each(copy.shape, copy.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(1), at, nest.raw("A", broadcast_index(at, nest.shape_of("A"))));
  });
}

// Supported calls
// ------------------------------------------------------------------------------------------

std::optional<std::string> factor_too_large(const Call& call) {
  const std::int64_t order = call.tensor("self").shape.back();
  return beyond_scratch(order * order + 1);
}

std::optional<std::string> inverse_too_large_triangular(const Call& call) {
  const std::int64_t order = call.tensor("self").shape.back();
  return beyond_scratch(2 * order * order);
}

std::optional<std::string> system_too_large_triangular(const Call& call) {
  const Shape& first = call.tensor("self").shape;
  const Shape& second = call.tensor(second_parameter(call)).shape;
  return beyond_scratch(matrix_rows(first) * first.back() + matrix_rows(second) * second.back());
}

}  // namespace

void add_triangular_nests(NestTable& table) {
  for (const Op op : {Op::cholesky, Op::linalg_cholesky, Op::linalg_cholesky_ex})
    table.push_back({op, cholesky, factor_too_large});
  table.push_back({Op::cholesky_inverse, cholesky_inverse, inverse_too_large_triangular});
  for (const Op op : {Op::cholesky_solve, Op::_cholesky_solve_helper})
    table.push_back({op, cholesky_solve, system_too_large_triangular});
  table.push_back(
      {Op::linalg_solve_triangular, linalg_solve_triangular, system_too_large_triangular});
  table.push_back({Op::triangular_solve, triangular_solve, system_too_large_triangular});
}

}  // namespace recut::loop

// Orthogonal factorisations by Householder reflections H = I - tau v v^T, with the signs of
// LAPACK's dgeqrf and dlarfg. One matrix of a batch is in scratch.
#include <algorithm>

#include "engine/codegen/lower/nests/scratch_matrix.h"

namespace recut::loop {
namespace {

class Reflections {
 public:
  // The shape of the vectors, which are below the diagonal without their leading 1.
  Reflections(const MatrixWork& w, std::int64_t rows, std::int64_t columns, std::int64_t count)
      : work(w),
        vectors(w.matrix("vectors", rows, columns)),
        tau(w.matrix("tau", count, 1)),
        sum_(w.matrix("sum", 1, 1)) {}

  // Scratch elements that they take.
  static std::int64_t numbers(std::int64_t rows, std::int64_t columns) {
    return rows * columns + std::min(rows, columns) + 3;
  }

  // Computes R from `vectors`, in the upper triangle.
  void factor() const {
    work.each(tau.rows, [&](const Index& k) {
      make_reflection(k);
      const ScalarExpr factor = tau.at(k, 0);
      work.each_after(k, vectors.columns,
                      [&](const Index& j) { reflect_column(k, factor, vectors, j); });
    });
  }

  // a := H a, for the reflection of column k.
  void reflect(const Index& k, const ScratchMatrix& a) const {
    const ScalarExpr factor = tau.at(k, 0);
    work.each(a.columns, [&](const Index& j) { reflect_column(k, factor, a, j); });
  }

  // The first columns of H_0 H_1 … in `q`.
  void multiply_out(const ScratchMatrix& q) const {
    work.fill_identity(q);
    work.each(tau.rows, [&](const Index& step) { reflect(Index(tau.rows - 1) - step, q); });
  }

  const MatrixWork& work;
  const ScratchMatrix vectors;
  const ScratchMatrix tau;

 private:
  // Turns column k below row k into (beta, v); beta has the opposite sign of alpha.
  void make_reflection(const Index& k) const {
    const ScratchMatrix& a = vectors;
    sum_.put(0, 0, work.real(0));
    work.each_after(k, a.rows,
                    [&](const Index& i) { sum_.put(0, 0, hypot(sum_.at(0, 0), a.at(i, k))); });
    tau.put(k, 0, work.real(0));
    const ScalarExpr below = sum_.at(0, 0), alpha = a.at(k, k);
    work.when(below != 0.0, [&] {
      const ScalarExpr beta = -copysign(hypot(alpha, below), alpha);
      a.put(k, k, beta);
      tau.put(k, 0, (beta - alpha) / beta);
      work.each_after(k, a.rows, [&](const Index& i) { a.put(i, k, a.at(i, k) / (alpha - beta)); });
    });
  }

  void reflect_column(const Index& k, const ScalarExpr& factor, const ScratchMatrix& a,
                      const Index& j) const {
    sum_.put(0, 0, a.at(k, j));
    work.each_after(k, vectors.rows, [&](const Index& i) {
      sum_.put(0, 0, sum_.at(0, 0) + vectors.at(i, k) * a.at(i, j));
    });
    const ScalarExpr scaled = factor * sum_.at(0, 0);
    a.put(k, j, a.at(k, j) - scaled);
    work.each_after(k, vectors.rows,
                    [&](const Index& i) { a.put(i, j, a.at(i, j) - scaled * vectors.at(i, k)); });
  }

  const ScratchMatrix sum_;
};

Reflections factored(const MatrixWork& work, std::string_view operand, const Indices& at) {
  const Shape& shape = work.nest.shape_of(operand);
  const std::int64_t rows = matrix_rows(shape), columns = shape.back();
  Reflections r(work, rows, columns, std::min(rows, columns));
  work.read(r.vectors, operand, at);
  r.factor();
  return r;
}

Reflections given(const MatrixWork& work, std::string_view vectors, std::string_view tau,
                  const Indices& at) {
  const Shape& shape = work.nest.shape_of(vectors);
  Reflections r(work, matrix_rows(shape), shape.back(), work.nest.shape_of(tau).back());
  work.read(r.vectors, vectors, at);
  work.read_vector(r.tau, tau, at);
  return r;
}

void geqrf(const Nest& nest) {
  const MatrixWork work(nest);
  work.for_each_matrix(batch_shape(nest.shape_of("self")), [&](const Indices& at) {
    const Reflections r = factored(work, "self", at);
    work.write(0, at, r.vectors);
    work.write_vector(1, at, [&](const Index& k) { return r.tau.at(k, 0); });
  });
}

void linalg_qr(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("A");
  const Triangle upper{.upper = true};
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const Reflections r = factored(work, "A", at);
    work.write(1, at, [&](const Index& i, const Index& j) {
      return triangle_element(work, r.vectors, upper, i, j);
    });
    if (!nest.is_requested(0)) return;
    const ScratchMatrix q = work.matrix("q", matrix_rows(shape), nest.type(0).shape.back());
    r.multiply_out(q);
    work.write(0, at, q);
  });
}

void householder_product(const Nest& nest) {
  const MatrixWork work(nest);
  const std::string_view vectors = first_parameter(nest.call);
  const Shape& shape = nest.shape_of(vectors);
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const Reflections r = given(work, vectors, nest.call.op().parameters[1].name, at);
    const ScratchMatrix q = work.matrix("q", matrix_rows(shape), shape.back());
    r.multiply_out(q);
    work.write(0, at, q);
  });
}

// Q a and a Q^T apply the reflections in descending order, the other two in ascending order.
void ormqr(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("input3");
  const bool left = nest.call.boolean("left");
  const bool from_last = left != nest.call.boolean("transpose");
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const Reflections r = given(work, "self", "input2", at);
    const ScratchMatrix a = work.matrix("product", matrix_rows(shape), shape.back());
    work.read(a, "input3", at);
    work.each(r.tau.rows, [&](const Index& step) {
      r.reflect(from_last ? Index(r.tau.rows - 1) - step : step, left ? a : a.transposed());
    });
    work.write(0, at, a);
  });
}

// Supported calls
// ------------------------------------------------------------------------------------------

// The reason why scratch can't hold the reflections of the first operand's shape and `beside` more
// numbers.
std::optional<std::string> too_large(const Call& call, std::int64_t beside) {
  const Shape& shape = call.tensor(first_parameter(call)).shape;
  return beyond_scratch(Reflections::numbers(matrix_rows(shape), shape.back()) + beside);
}

std::optional<std::string> factors_too_large_householder(const Call& call) {
  return too_large(call, 0);
}

std::optional<std::string> product_too_large(const Call& call) {
  const Shape& shape = call.tensor(first_parameter(call)).shape;
  return too_large(call, matrix_rows(shape) * std::max(matrix_rows(shape), shape.back()));
}

std::optional<std::string> other_too_large(const Call& call) {
  const Shape& shape = call.tensor("input3").shape;
  return too_large(call, matrix_rows(shape) * shape.back());
}

}  // namespace

void add_householder_nests(NestTable& table) {
  table.push_back({Op::geqrf, geqrf, factors_too_large_householder});
  table.push_back({Op::linalg_qr, linalg_qr, product_too_large});
  table.push_back({Op::linalg_householder_product, householder_product, product_too_large});
  table.push_back({Op::orgqr, householder_product, product_too_large});
  table.push_back({Op::ormqr, ormqr, other_too_large});
}

}  // namespace recut::loop

// Pseudo-inverses and exponentials of single matrices in scratch.
#include <algorithm>
#include <cmath>

#include "engine/codegen/lower/nests/eigen_svd.h"
#include "engine/ir/epsilon.h"

namespace recut::loop {
namespace {

// Pseudo-inverses
// ------------------------------------------------------------------------------------

// A tolerance argument, as a number or as a tensor of one a matrix, if given.
std::optional<ScalarExpr> given_tolerance(const MatrixWork& work, std::string_view parameter,
                                          const Indices& at) {
  const Nest& nest = work.nest;
  if (!nest.call.op().parameter(parameter) || !nest.call.given(parameter)) return std::nullopt;
  if (!nest.call.is_tensor(parameter)) return work.real(nest.call.real(parameter));
  return nest.raw(parameter, broadcast_index(at, nest.shape_of(parameter))).to(DType::f64);
}

// Singular values up to this limit count as 0. An absolute tolerance replaces the relative default.
ScalarExpr tolerance(const MatrixWork& work, const Indices& at, std::int64_t size,
                     const ScalarExpr& largest) {
  const double otherwise = static_cast<double>(size) * epsilon_of(work.nest.type().dtype);
  if (const auto only = given_tolerance(work, "rcond", at)) return *only * largest;
  const auto absolute = given_tolerance(work, "atol", at);
  const auto relative = given_tolerance(work, "rtol", at);
  if (!absolute) return (relative ? *relative : work.real(otherwise)) * largest;
  const ScalarExpr beside =
      relative ? *relative : select(*absolute > 0.0, work.real(0), work.real(otherwise));
  return larger(*absolute, beside * largest);
}

// A decomposition left diag(values) right^T whose vectors are columns.
struct Decomposition {
  ScratchMatrix left, values, right;
};

// right diag(1 / values) left^T over the values above the tolerance.
void write_inverse(const MatrixWork& work, const Indices& at, std::int64_t size,
                   const Decomposition& d) {
  const ScratchMatrix sum = work.matrix("sum", 1, 1);
  sum.put(0, 0, work.real(0));
  work.each(d.values.rows,
            [&](const Index& k) { sum.put(0, 0, larger(sum.at(0, 0), abs(d.values.at(k, 0)))); });
  const ScalarExpr least = tolerance(work, at, size, sum.at(0, 0));
  work.each(d.values.rows, [&](const Index& k) {
    const ScalarExpr value = d.values.at(k, 0);
    d.values.put(k, 0, select(abs(value) > least, 1.0 / value, work.real(0)));
  });
  work.write(0, at, [&](const Index& i, const Index& j) {
    sum.put(0, 0, work.real(0));
    work.each(d.values.rows, [&](const Index& k) {
      const ScalarExpr product = d.right.at(i, k) * d.values.at(k, 0) * d.left.at(j, k);
      sum.put(0, 0, sum.at(0, 0) + product);
    });
    return sum.at(0, 0);
  });
}

void invert_symmetric(const MatrixWork& work, const Indices& at, std::int64_t n) {
  const ScratchMatrix a = work.matrix("matrix", n, n), v = work.matrix("vectors", n, n);
  const ScratchMatrix values = work.matrix("values", n, 1);
  read_finite(work, a, "self", at);
  diagonalise(work, a, v, true);
  work.each(n, [&](const Index& k) { values.put(k, 0, a.at(k, k)); });
  write_inverse(work, at, n, {v, values, v});
}

// Normalizes the columns of `u` to a basis, except columns of norm 0, whose values are below every
// tolerance.
void invert_general(const MatrixWork& work, const Indices& at, std::int64_t rows,
                    std::int64_t columns) {
  const bool transposed = rows < columns;
  const std::int64_t tall = std::max(rows, columns), thin = std::min(rows, columns);
  const ScratchMatrix u = work.matrix("left", tall, thin), v = work.matrix("right", thin, thin);
  const ScratchMatrix values = work.matrix("values", thin, 1);
  read_finite(work, transposed ? u.transposed() : u, "self", at);
  decompose(work, u, v, values);
  write_inverse(work, at, tall,
                transposed ? Decomposition{v, values, u} : Decomposition{u, values, v});
}

void pinv(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("self");
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    if (nest.call.boolean("hermitian"))
      invert_symmetric(work, at, shape.back());
    else
      invert_general(work, at, matrix_rows(shape), shape.back());
  });
}

// Exponentials
// ---------------------------------------------------------------------------------------

constexpr std::int64_t kMaxSquarings = 1100;
constexpr std::int64_t kTerms = 18;

// Scaling and squaring: a Taylor series where the norm is small, then squarings (Moler and Van Loan
// 2003, method 3). 18 terms at a norm of 1/2 reach the precision of f64.
class MatrixFunctionsExponential {
 public:
  MatrixFunctionsExponential(const MatrixWork& w, std::int64_t order)
      : work(w),
        a(w.matrix("matrix", order, order)),
        sum(w.matrix("sum", order, order)),
        term_(w.matrix("term", order, order)),
        product_(w.matrix("product", order, order)),
        number_(w.matrix("number", 1, 1)),
        largest_(w.matrix("largest", 1, 1)) {}

  static std::int64_t numbers(std::int64_t order) { return 4 * order * order + 2; }

  void compute() const {
    const ScalarExpr norm = largest_row();
    const ScalarExpr squarings = select(norm > 0.5, floor(log2(norm)) + 2.0, work.real(0));
    scale(exp2(-squarings));
    work.fill_identity(sum);
    work.fill_identity(term_);
    work.each(kTerms, [&](const Index& k) {
      multiply(term_, a);
      const ScalarExpr divisor = work.number(k).to(DType::f64) + 1.0;
      work.fill(term_, [&](const Index& i, const Index& j) { return product_.at(i, j) / divisor; });
      work.fill(sum, [&](const Index& i, const Index& j) { return sum.at(i, j) + term_.at(i, j); });
    });
    work.each(kMaxSquarings, [&](const Index& step) {
      work.when(work.number(step).to(DType::f64) < squarings, [&] {
        multiply(sum, sum);
        work.fill(sum, [&](const Index& i, const Index& j) { return product_.at(i, j); });
      });
    });
  }

  const MatrixWork& work;
  const ScratchMatrix a, sum;

 private:
  // The infinity norm: the maximal sum of a row's magnitudes; NaN and infinities propagate.
  ScalarExpr largest_row() const {
    largest_.put(0, 0, work.real(0));
    work.each(a.rows, [&](const Index& i) {
      number_.put(0, 0, work.real(0));
      work.each(a.columns,
                [&](const Index& j) { number_.put(0, 0, number_.at(0, 0) + abs(a.at(i, j))); });
      largest_.put(0, 0, larger(largest_.at(0, 0), number_.at(0, 0)));
    });
    return largest_.at(0, 0);
  }
  void scale(const ScalarExpr& factor) const {
    work.fill(a, [&](const Index& i, const Index& j) { return a.at(i, j) * factor; });
  }
  void multiply(const ScratchMatrix& left, const ScratchMatrix& right) const {
    work.fill(product_, [&](const Index& i, const Index& j) {
      number_.put(0, 0, work.real(0));
      work.each(left.columns, [&](const Index& k) {
        number_.put(0, 0, number_.at(0, 0) + left.at(i, k) * right.at(k, j));
      });
      return number_.at(0, 0);
    });
  }

  const ScratchMatrix term_, product_, number_, largest_;
};

// NaN if any element is not finite.
void matrix_exp(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("self");
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const MatrixFunctionsExponential e(work, shape.back());
    const ScratchMatrix poison = work.matrix("poison", 1, 1);
    work.read(e.a, "self", at);
    poison.put(0, 0, work.real(0));
    work.each(shape.back(), [&](const Index& i) {
      work.each(shape.back(),
                [&](const Index& j) { poison.put(0, 0, poison.at(0, 0) + 0.0 * e.a.at(i, j)); });
    });
    e.compute();
    work.write(0, at,
               [&](const Index& i, const Index& j) { return e.sum.at(i, j) + poison.at(0, 0); });
  });
}

// Supported calls
// ------------------------------------------------------------------------------------------

std::optional<std::string> inverse_too_large_matrix_functions(const Call& call) {
  const Shape& shape = call.tensor("self").shape;
  const std::int64_t thin = std::min(matrix_rows(shape), shape.back());
  return beyond_scratch(matrix_rows(shape) * shape.back() + thin * thin + thin + 4);
}

std::optional<std::string> exponential_too_large(const Call& call) {
  return beyond_scratch(MatrixFunctionsExponential::numbers(call.tensor("self").shape.back()) + 1);
}

}  // namespace

void add_matrix_function_nests(NestTable& table) {
  for (const Op op :
       {Op::linalg_pinv, Op::linalg_pinv_atol_rtol_tensor, Op::linalg_pinv_atol_rtol_float})
    table.push_back({op, pinv, inverse_too_large_matrix_functions});
  for (const Op op : {Op::linalg_matrix_exp, Op::matrix_exp})
    table.push_back({op, matrix_exp, exponential_too_large});
}

}  // namespace recut::loop

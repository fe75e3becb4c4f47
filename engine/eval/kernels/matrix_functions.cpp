// Pseudo-inverses, least squares, exponentials, cross products.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/matrices.h"
#include "engine/ir/epsilon.h"

namespace recut {
namespace {

// Tolerances as torch.linalg.pinv reads them: atol and rtol may be tensors with one value a matrix.
class MatrixFunctionsTolerance {
 public:
  MatrixFunctionsTolerance(const KernelContext& c, const Shape& batch, double size)
      : batch_(batch), default_(size * epsilon_of(c.output_types[0].dtype)) {
    if (c.call.op().parameter("rcond")) {
      relative_ = Reals(Shape{}, c.call.real("rcond"));
      return;
    }
    if (c.call.given("atol")) absolute_ = c.reals("atol");
    if (c.call.given("rtol")) relative_ = c.reals("rtol");
  }

  double at(std::int64_t index, double largest) const {
    const double absolute = at(absolute_, index, 0);
    // An absolute tolerance replaces the relative default.
    const double relative = at(relative_, index, absolute > 0 ? 0 : default_);
    return std::max(absolute, relative * largest);
  }

 private:
  double at(const Reals& given, std::int64_t index, double otherwise) const {
    if (given.data.empty()) return otherwise;
    return given[broadcast_index(index, batch_, given.shape)];
  }

  const Shape& batch_;
  double default_;
  Reals absolute_, relative_;  // empty: not given
};

// left diag(1 / values) right^T over the values above the tolerance.
Matrix inverse_from(const Matrix& left, const std::vector<double>& values, const Matrix& right,
                    double tolerance) {
  Matrix scaled = left;
  for (std::int64_t j = 0; j < scaled.columns; ++j) {
    const double s = values[static_cast<std::size_t>(j)];
    const double factor = std::abs(s) > tolerance ? 1 / s : 0.0;
    for (std::int64_t i = 0; i < scaled.rows; ++i) scaled.at(i, j) *= factor;
  }
  return scaled * transposed(right);
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  return largest;
}

Result<Done> pinv(KernelContext& c) {
  const Reals a = c.reals("self");
  if (!all_finite(a)) return error("linalg_pinv: the matrix has elements that are not finite");
  Reals out(c.output_types[0].shape);
  const Shape batch = batch_shape(a.shape);
  const std::int64_t size = std::max(a.shape.back(), a.shape[a.shape.size() - 2]);
  const MatrixFunctionsTolerance tolerance(c, batch, static_cast<double>(size));
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    if (c.call.boolean("hermitian")) {
      const Eigen e = symmetric_eigen(matrix_at(a, i), true);
      const double limit = tolerance.at(i, largest_of(e.values));
      put_matrix(out, i, inverse_from(e.vectors, e.values, e.vectors, limit));
    } else {
      const Svd s = singular_values(matrix_at(a, i));
      const double limit = tolerance.at(i, largest_of(s.values));
      put_matrix(out, i, inverse_from(s.v, s.values, s.u, limit));
    }
  }
  c.write(out);
  return Done{};
}

// One system's minimum-norm solution, with residuals, rank and singular values.
struct LeastSquares {
  Matrix x;
  std::vector<double> residuals;  // by column: the squared norm of a x - b
  std::vector<double> singular;
  std::int64_t rank = 0;
};

LeastSquares least_squares(const Matrix& a, const Matrix& b, double tolerance) {
  const Svd s = singular_values(a);
  const double limit = tolerance * largest_of(s.values);
  LeastSquares found{inverse_from(s.v, s.values, s.u, limit) * b, {}, s.values, 0};
  found.rank =
      std::count_if(s.values.begin(), s.values.end(), [&](double value) { return value > limit; });
  found.residuals.assign(static_cast<std::size_t>(b.columns), 0.0);
  const Matrix fitted = a * found.x;
  for (std::size_t k = 0; k < b.data.size(); ++k) {
    const double off = fitted.data[k] - b.data[k];
    found.residuals[k % found.residuals.size()] += off * off;
  }
  return found;
}

// Some of these outputs are empty, depending on the driver and on values.
template <class T>
Result<Done> write_unless_empty(KernelContext& c, const Dense<T>& values, std::size_t index) {
  const Shape& recorded = c.output_types[index].shape;
  if (element_count(recorded) == 0) return Done{};
  if (recorded != values.shape)
    return error(fmt::format("{}: output {} is recorded as {}, expected {} or nothing",
                             c.call.op().name, index, format_shape(recorded),
                             format_shape(values.shape)));
  c.write(values, index);
  return Done{};
}

Shape with(Shape batch, std::int64_t last) {
  batch.push_back(last);
  return batch;
}

Result<Done> lstsq(KernelContext& c) {
  if (const auto fits = check_shape_rule(c); !fits) return fits;
  const Reals a = c.reals("self");
  if (!all_finite(a)) return error("linalg_lstsq: the matrix has elements that are not finite");
  Reals b = c.reals("b");
  Reals out(c.output_types[0].shape);
  if (b.rank() == a.rank() - 1) {
    b.shape.push_back(1);
    out.shape.push_back(1);
  }
  const Shape batch = batch_shape(out.shape);
  const Shape systems = batch_shape(a.shape);
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t columns = a.shape.back();
  const double tolerance = c.call.given("rcond") ? c.call.real("rcond")
                                                 : epsilon_of(c.output_types[0].dtype) *
                                                       static_cast<double>(std::max(rows, columns));
  Reals residuals(with(batch, b.shape.back()));
  Integers ranks(systems);
  Reals singular(with(systems, std::min(rows, columns)));
  for (std::int64_t i = 0; i < element_count(batch); ++i) {
    const std::int64_t at = broadcast_index(i, batch, systems);
    const LeastSquares found = least_squares(
        matrix_at(a, at), matrix_at(b, broadcast_index(i, batch, batch_shape(b.shape))), tolerance);
    put_matrix(out, i, found.x);
    std::copy(found.residuals.begin(), found.residuals.end(),
              residuals.data.begin() + i * b.shape.back());
    std::copy(found.singular.begin(), found.singular.end(),
              singular.data.begin() + at * singular.shape.back());
    ranks[at] = found.rank;
  }
  c.write(out, 0);
  const auto done = write_unless_empty(c, residuals, 1);
  if (!done) return done;
  const auto ranked = write_unless_empty(c, ranks, 2);
  return ranked ? write_unless_empty(c, singular, 3) : ranked;
}

void add_scaled(Matrix& to, double factor, const Matrix& a) {
  for (std::size_t i = 0; i < to.data.size(); ++i) to.data[i] += factor * a.data[i];
}

// Scaling and squaring: a Taylor series where the norm is small, then squares (Moler, Van Loan
// 2003, method 3). 18 terms at a norm of 1/2 leave nothing of double's precision.
Matrix exponential(Matrix a) {
  double norm = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double row = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) row += std::abs(a.at(i, j));
    norm = std::max(norm, row);
  }
  const int squarings = norm > 0.5 ? std::clamp(std::ilogb(norm) + 2, 0, 1100) : 0;
  for (double& x : a.data) x = std::ldexp(x, -squarings);
  Matrix sum = Matrix::identity(a.rows, a.rows);
  Matrix term = sum;
  for (int k = 1; k <= 18; ++k) {
    term = term * a;
    for (double& x : term.data) x /= k;
    add_scaled(sum, 1, term);
  }
  for (int i = 0; i < squarings; ++i) sum = sum * sum;
  return sum;
}

Result<Done> matrix_exp(KernelContext& c) {
  const Reals a = c.reals("self");
  Reals out(a.shape);
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    Matrix m = matrix_at(a, i);
    const bool finite =
        std::all_of(m.data.begin(), m.data.end(), [](double x) { return std::isfinite(x); });
    if (finite)
      m = exponential(std::move(m));
    else
      std::fill(m.data.begin(), m.data.end(), std::nan(""));
    put_matrix(out, i, m);
  }
  c.write(out);
  return Done{};
}

template <class T>
Dense<T> cross_product(const KernelContext& c) {
  Dense<T> out(c.output_types[0].shape);
  const Dense<T> a = elementwise::broadcast_to(c.read<T>("self"), out.shape);
  const Dense<T> b = elementwise::broadcast_to(c.read<T>("other"), out.shape);
  const auto dim =
      static_cast<std::size_t>(wrap_dimension(c.call.integer("dim"), out.rank()).value());
  const std::int64_t step = contiguous_strides(out.shape)[dim];
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const std::int64_t along = i / step % 3;
    const std::int64_t base = i - along * step;
    const std::int64_t p = base + (along + 1) % 3 * step;
    const std::int64_t q = base + (along + 2) % 3 * step;
    if constexpr (std::is_same_v<T, double>)
      out[i] = a[p] * b[q] - a[q] * b[p];
    else  // unsigned: integers wrap
      out[i] = static_cast<T>(static_cast<std::uint64_t>(a[p]) * static_cast<std::uint64_t>(b[q]) -
                              static_cast<std::uint64_t>(a[q]) * static_cast<std::uint64_t>(b[p]));
  }
  return out;
}

Result<Done> linalg_cross(KernelContext& c) {
  if (is_floating(c.output_types[0].dtype))
    c.write(cross_product<double>(c));
  else
    c.write(cross_product<std::int64_t>(c));
  return Done{};
}

}  // namespace

void add_matrix_function_kernels(KernelTable& t) {
  for (const Op op :
       {Op::linalg_pinv, Op::linalg_pinv_atol_rtol_tensor, Op::linalg_pinv_atol_rtol_float})
    t.add(op, pinv);
  t.add(Op::linalg_lstsq, lstsq);
  t.add(Op::linalg_matrix_exp, matrix_exp);
  t.add(Op::matrix_exp, matrix_exp);
  t.add(Op::linalg_cross, linalg_cross);
}

}  // namespace recut

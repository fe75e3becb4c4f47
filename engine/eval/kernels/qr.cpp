// Orthogonal factorisations by Householder reflections H = I - tau v v^T, signs as LAPACK's dgeqrf
// and dlarfg have them.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/matrices.h"

namespace recut {
namespace {

// R in the upper triangle, the vectors below it without their leading 1.
struct Reflections {
  Matrix factors;
  std::vector<double> tau;
};

// a := H a for the reflection whose vector stands in column k of `v`, below row k; columns from
// `begin` on. With `right`: a := a H, rows from `begin` on.
void reflect(const Matrix& v, std::int64_t k, double tau, Matrix& a, bool right,
             std::int64_t begin = 0) {
  const std::int64_t others = right ? a.rows : a.columns;
  const auto element = [&](std::int64_t i, std::int64_t j) -> double& {
    return right ? a.at(j, i) : a.at(i, j);
  };
  for (std::int64_t j = begin; j < others; ++j) {
    double sum = element(k, j);
    for (std::int64_t i = k + 1; i < v.rows; ++i) sum += v.at(i, k) * element(i, j);
    element(k, j) -= tau * sum;
    for (std::int64_t i = k + 1; i < v.rows; ++i) element(i, j) -= tau * sum * v.at(i, k);
  }
}

// Turns column k below row k into (beta, v) and gives tau; beta has the sign that alpha has not.
double make_reflection(Matrix& a, std::int64_t k) {
  double below = 0;
  for (std::int64_t i = k + 1; i < a.rows; ++i) below = std::hypot(below, a.at(i, k));
  const double alpha = a.at(k, k);
  if (below == 0) return 0;
  const double beta = -std::copysign(std::hypot(alpha, below), alpha);
  for (std::int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) /= alpha - beta;
  a.at(k, k) = beta;
  return (beta - alpha) / beta;
}

Reflections factor(Matrix a) {
  Reflections r;
  for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    r.tau.push_back(make_reflection(a, k));
    reflect(a, k, r.tau.back(), a, false, k + 1);
  }
  r.factors = std::move(a);
  return r;
}

// The first `columns` columns of H_0 H_1 … H_{k-1}.
Matrix orthogonal(const Matrix& v, const std::vector<double>& tau, std::int64_t columns) {
  Matrix q = Matrix::identity(v.rows, columns);
  for (std::size_t k = tau.size(); k-- > 0;)
    reflect(v, static_cast<std::int64_t>(k), tau[k], q, false);
  return q;
}

std::vector<double> tau_at(const Reals& tau, std::int64_t index) {
  const std::int64_t count = tau.shape.back();
  const auto begin = tau.data.begin() + index * count;
  return std::vector<double>(begin, begin + count);
}

Result<Done> geqrf(KernelContext& c) {
  const Reals a = c.reals("self");
  Reals factors(a.shape);
  Reals tau(c.output_types[1].shape);
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Reflections r = factor(matrix_at(a, i));
    put_matrix(factors, i, r.factors);
    std::copy(r.tau.begin(), r.tau.end(),
              tau.data.begin() + i * static_cast<std::int64_t>(r.tau.size()));
  }
  c.write(factors, 0);
  c.write(tau, 1);
  return Done{};
}

Result<Done> linalg_qr(KernelContext& c) {
  const Reals a = c.reals("A");
  const bool with_q = c.call.text("mode") != "r";
  Reals q(c.output_types[0].shape);
  Reals r(c.output_types[1].shape);
  const std::int64_t k = r.shape[r.shape.size() - 2];
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Reflections f = factor(matrix_at(a, i));
    if (with_q) put_matrix(q, i, orthogonal(f.factors, f.tau, k));
    Matrix upper = triangle_of(f.factors, true);
    upper.rows = k;
    upper.data.resize(static_cast<std::size_t>(k * upper.columns), 0.0);
    put_matrix(r, i, upper);
  }
  c.write(q, 0);
  c.write(r, 1);
  return Done{};
}

Result<Done> householder_product(KernelContext& c) {
  const Reals v = c.reals(first_parameter(c));
  const Reals tau = c.reals(c.call.op().parameters[1].name);
  Reals out(v.shape);
  for (std::int64_t i = 0; i < matrix_count(v.shape); ++i)
    put_matrix(out, i, orthogonal(matrix_at(v, i), tau_at(tau, i), v.shape.back()));
  c.write(out);
  return Done{};
}

Result<Done> ormqr(KernelContext& c) {
  const Reals v = c.reals("self");
  const Reals tau = c.reals("input2");
  const Reals other = c.reals("input3");
  const bool left = c.call.boolean("left");
  // Q a and a Q^T take the reflections from the last to the first, the other two the other way.
  const bool from_last = left != c.call.boolean("transpose");
  Reals out(other.shape);
  for (std::int64_t i = 0; i < matrix_count(other.shape); ++i) {
    Matrix a = matrix_at(other, i);
    const Matrix vectors = matrix_at(v, i);
    const auto factors = tau_at(tau, i);
    for (std::size_t step = 0; step < factors.size(); ++step) {
      const std::size_t k = from_last ? factors.size() - 1 - step : step;
      reflect(vectors, static_cast<std::int64_t>(k), factors[k], a, !left);
    }
    put_matrix(out, i, a);
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_qr_kernels(KernelTable& t) {
  t.add(Op::geqrf, geqrf);
  t.add(Op::linalg_qr, linalg_qr);
  t.add(Op::linalg_householder_product, householder_product);
  t.add(Op::orgqr, householder_product);
  t.add(Op::ormqr, ormqr);
}

}  // namespace recut

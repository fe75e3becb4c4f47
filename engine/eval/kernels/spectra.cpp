// Eigenvalues and singular values by Jacobi's rotations, which are slow and as exact as double
// allows (Demmel, Veselić 1992). Vectors have a sign that only the algorithm determines; ours makes
// the largest element of each vector positive.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/eval/kernels/matrices.h"

namespace recut {
namespace {

constexpr int kMaxSweeps = 60;  // far more than the ten that convergence takes

struct Rotation {
  double cosine, sine;
};

// Makes the off-diagonal `c` of [[a, c], [c, b]] zero.
Rotation rotation_of(double a, double b, double c) {
  const double tau = (b - a) / (2 * c);
  const double t = std::copysign(1.0, tau) / (std::abs(tau) + std::hypot(1.0, tau));
  const double cosine = 1 / std::hypot(1.0, t);
  return {cosine, t * cosine};
}

void rotate_columns(Matrix& m, std::int64_t p, std::int64_t q, Rotation r) {
  for (std::int64_t i = 0; i < m.rows; ++i) {
    const double x = m.at(i, p);
    const double y = m.at(i, q);
    m.at(i, p) = r.cosine * x - r.sine * y;
    m.at(i, q) = r.sine * x + r.cosine * y;
  }
}

void rotate_rows(Matrix& m, std::int64_t p, std::int64_t q, Rotation r) {
  for (std::int64_t i = 0; i < m.columns; ++i) {
    const double x = m.at(p, i);
    const double y = m.at(q, i);
    m.at(p, i) = r.cosine * x - r.sine * y;
    m.at(q, i) = r.sine * x + r.cosine * y;
  }
}

// +1, or -1 where the largest element of the column is negative.
double sign_of_column(const Matrix& m, std::int64_t j) {
  double largest = 0;
  for (std::int64_t i = 0; i < m.rows; ++i)
    if (std::abs(m.at(i, j)) > std::abs(largest) * (1 + 1e-9)) largest = m.at(i, j);
  return largest < 0 ? -1.0 : 1.0;
}

// The columns of `from` in the given order, each times its factor.
Matrix arranged(const Matrix& from, const std::vector<std::int64_t>& order,
                const std::vector<double>& factors) {
  Matrix to(from.rows, static_cast<std::int64_t>(order.size()));
  for (std::int64_t j = 0; j < to.columns; ++j) {
    const std::int64_t column = order[static_cast<std::size_t>(j)];
    const double factor = factors[static_cast<std::size_t>(column)];
    for (std::int64_t i = 0; i < from.rows; ++i) to.at(i, j) = from.at(i, column) * factor;
  }
  return to;
}

std::vector<std::int64_t> ascending(const std::vector<double>& values) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

// Fills the columns of `u` from `known` on so that all are orthonormal: Gram and Schmidt, twice, on
// unit vectors.
void complete_basis(Matrix& u, std::int64_t known) {
  std::int64_t unit = 0;
  for (std::int64_t j = known; j < u.columns && unit < u.rows; ++unit) {
    std::vector<double> x(static_cast<std::size_t>(u.rows), 0.0);
    x[static_cast<std::size_t>(unit)] = 1;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t k = 0; k < j; ++k) {
        double dot = 0;
        for (std::int64_t i = 0; i < u.rows; ++i)
          dot += u.at(i, k) * x[static_cast<std::size_t>(i)];
        for (std::int64_t i = 0; i < u.rows; ++i)
          x[static_cast<std::size_t>(i)] -= dot * u.at(i, k);
      }
    double norm = 0;
    for (const double y : x) norm = std::hypot(norm, y);
    if (norm < 0.5 / std::sqrt(static_cast<double>(u.rows))) continue;
    for (std::int64_t i = 0; i < u.rows; ++i) u.at(i, j) = x[static_cast<std::size_t>(i)] / norm;
    ++j;
  }
}

}  // namespace

Eigen symmetric_eigen(Matrix a, bool lower) {
  const std::int64_t n = a.rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      (lower ? a.at(j, i) : a.at(i, j)) = lower ? a.at(i, j) : a.at(j, i);
  Matrix v = Matrix::identity(n, n);
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMaxSweeps; ++sweep) {
    rotated = false;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        const double scale = std::sqrt(std::abs(a.at(p, p))) * std::sqrt(std::abs(a.at(q, q)));
        const double off = std::abs(a.at(p, q));
        if (!(off > 1e-17 * scale) || off < 1e-300) continue;
        const Rotation r = rotation_of(a.at(p, p), a.at(q, q), a.at(p, q));
        rotate_columns(a, p, q, r);
        rotate_rows(a, p, q, r);
        rotate_columns(v, p, q, r);
        rotated = true;
      }
  }
  std::vector<double> values;
  std::vector<double> signs;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(a.at(i, i));
    signs.push_back(sign_of_column(v, i));
  }
  const auto order = ascending(values);
  Eigen result;
  for (const std::int64_t i : order) result.values.push_back(values[static_cast<std::size_t>(i)]);
  result.vectors = arranged(v, order, signs);
  return result;
}

Svd singular_values(const Matrix& matrix) {
  // One-sided (Hestenes 1958): rotates columns until they are orthogonal; their norms are the
  // singular values.
  if (matrix.rows < matrix.columns) {
    Svd of_transpose = singular_values(transposed(matrix));
    std::swap(of_transpose.u, of_transpose.v);
    return of_transpose;
  }
  Matrix u = matrix;
  Matrix v = Matrix::identity(u.columns, u.columns);
  const auto dot = [&](std::int64_t p, std::int64_t q) {
    double sum = 0;
    for (std::int64_t i = 0; i < u.rows; ++i) sum += u.at(i, p) * u.at(i, q);
    return sum;
  };
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMaxSweeps; ++sweep) {
    rotated = false;
    for (std::int64_t p = 0; p < u.columns; ++p)
      for (std::int64_t q = p + 1; q < u.columns; ++q) {
        const double pp = dot(p, p);
        const double qq = dot(q, q);
        const double pq = dot(p, q);
        if (!(std::abs(pq) > 1e-16 * std::sqrt(pp) * std::sqrt(qq)) || std::abs(pq) < 1e-300)
          continue;
        const Rotation r = rotation_of(pp, qq, pq);
        rotate_columns(u, p, q, r);
        rotate_columns(v, p, q, r);
        rotated = true;
      }
  }
  std::vector<double> values;
  for (std::int64_t j = 0; j < u.columns; ++j) values.push_back(std::sqrt(dot(j, j)));
  auto order = ascending(values);
  std::reverse(order.begin(), order.end());
  Svd result;
  std::vector<double> of_u(values.size());
  std::vector<double> of_v(values.size());
  std::int64_t rank = 0;
  for (const std::int64_t i : order) {
    const auto at = static_cast<std::size_t>(i);
    result.values.push_back(values[at]);
    of_v[at] = sign_of_column(v, i);
    const bool vanishes = values[at] <= 1e-15 * result.values.front();
    of_u[at] = vanishes ? 0.0 : of_v[at] / values[at];
    if (!vanishes) ++rank;
  }
  result.u = arranged(u, order, of_u);
  result.v = arranged(v, order, of_v);
  complete_basis(result.u, rank);
  return result;
}

namespace {

void put_vector(Reals& to, std::int64_t index, const std::vector<double>& values) {
  std::copy(values.begin(), values.end(),
            to.data.begin() + index * static_cast<std::int64_t>(values.size()));
}

Diagnostic not_finite(const KernelContext& c) {
  return error(fmt::format("{}: the matrix has elements that are not finite", c.call.op().name));
}

// _linalg_eigh, linalg_eigh and linalg_eigvalsh.
Result<Done> eigh(KernelContext& c) {
  const Reals a = c.reals(first_parameter(c));
  if (!all_finite(a)) return not_finite(c);
  const std::string_view triangle = c.call.text("UPLO");
  const bool lower = triangle != "U" && triangle != "u";
  Reals values(c.output_types[0].shape);
  const bool with_vectors = c.outputs.size() > 1 && c.output_types[1].shape == a.shape;
  Reals vectors(with_vectors ? a.shape : Shape{0});
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Eigen e = symmetric_eigen(matrix_at(a, i), lower);
    put_vector(values, i, e.values);
    if (with_vectors) put_matrix(vectors, i, e.vectors);
  }
  c.write(values, 0);
  if (c.outputs.size() > 1) c.write(vectors, 1);
  return Done{};
}

// `basis` with orthonormal columns added up to `columns`.
Matrix with_columns(const Matrix& basis, std::int64_t columns) {
  Matrix all(basis.rows, columns);
  for (std::int64_t i = 0; i < basis.rows; ++i)
    for (std::int64_t j = 0; j < basis.columns; ++j) all.at(i, j) = basis.at(i, j);
  complete_basis(all, basis.columns);
  return all;
}

// _linalg_svd, linalg_svd and linalg_svdvals.
Result<Done> svd(KernelContext& c) {
  const Reals a = c.reals("A");
  if (!all_finite(a)) return not_finite(c);
  const bool only_values = c.outputs.size() == 1;
  Reals values(c.output_types[only_values ? 0 : 1].shape);
  const bool with_bases = !only_values && c.output_types[0].shape.size() == a.shape.size();
  Reals u(with_bases ? c.output_types[0].shape : Shape{0});
  Reals vh(with_bases ? c.output_types[2].shape : Shape{0});
  for (std::int64_t i = 0; i < matrix_count(a.shape); ++i) {
    const Svd s = singular_values(matrix_at(a, i));
    put_vector(values, i, s.values);
    if (!with_bases) continue;
    put_matrix(u, i, with_columns(s.u, u.shape.back()));
    put_matrix(vh, i, transposed(with_columns(s.v, vh.shape[vh.shape.size() - 2])));
  }
  if (only_values) {
    c.write(values, 0);
    return Done{};
  }
  c.write(u, 0);
  c.write(values, 1);
  c.write(vh, 2);
  return Done{};
}

}  // namespace

void add_spectral_kernels(KernelTable& t) {
  for (const Op op : {Op::_linalg_eigh, Op::linalg_eigh, Op::linalg_eigvalsh}) t.add(op, eigh);
  for (const Op op : {Op::_linalg_svd, Op::linalg_svd, Op::linalg_svdvals}) t.add(op, svd);
}

}  // namespace recut

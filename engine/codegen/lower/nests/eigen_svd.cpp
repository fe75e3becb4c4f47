// Jacobi rotations converge quadratically, need no other scratch than the matrix, and compute small
// singular values to high relative accuracy. QR iterations take fewer operations, but their shifts
// and deflations branch on data, which the loop form can hardly express. Here a sweep visits all
// pairs p < q in a fixed order, and a sweep after convergence is skipped by a flag in scratch.
// Cost: O(n^3) a sweep, about ten sweeps. One-sided rotations of the columns of A give the SVD
// without forming A^T A, which would square the condition number.
#include "engine/codegen/lower/nests/eigen_svd.h"

#include <algorithm>
#include <cmath>

namespace recut::loop {
namespace {

constexpr std::int64_t kMaxSweeps = 60;  // convergence takes about ten

struct Rotation {
  ScalarExpr cosine, sine;
};

// The rotation that makes the off-diagonal `c` of [[a, c], [c, b]] zero.
Rotation rotation_of(const ScalarExpr& a, const ScalarExpr& b, const ScalarExpr& c) {
  const ScalarExpr tau = (b - a) / (2.0 * c);
  const ScalarExpr t = copysign(1.0, tau) / (abs(tau) + hypot(1.0, tau));
  const ScalarExpr cosine = 1.0 / hypot(1.0, t);
  return {cosine, t * cosine};
}

void rotate_columns(const MatrixWork& work, const ScratchMatrix& m, const Index& p, const Index& q,
                    const Rotation& r) {
  work.each(m.rows, [&](const Index& i) {
    const ScalarExpr x = m.at(i, p), y = m.at(i, q);
    m.put(i, p, r.cosine * x - r.sine * y);
    m.put(i, q, r.sine * x + r.cosine * y);
  });
}

// Sweeps over all pairs of columns until a sweep rotates none. `rotate` sets the scratch flag where
// it rotates.
void sweep(
    const MatrixWork& work, std::int64_t columns,
    const std::function<void(const Index& p, const Index& q, const Scratch& rotated)>& rotate) {
  const Scratch rotated = work.integers("rotated", 1);
  rotated.write(0, work.whole(1));
  work.each(kMaxSweeps, [&](const Index&) {
    work.when(rotated.read(0) != 0.0, [&] {
      rotated.write(0, work.whole(0));
      work.each(columns, [&](const Index& p) {
        work.each_after(p, columns, [&](const Index& q) { rotate(p, q, rotated); });
      });
    });
  });
}

}  // namespace

void diagonalise(const MatrixWork& work, const ScratchMatrix& a, const ScratchMatrix& v,
                 bool lower) {
  work.each(a.rows, [&](const Index& i) {
    work.each_before(i, a.rows, [&](const Index& j) {
      if (lower)
        a.put(j, i, a.at(i, j));
      else
        a.put(i, j, a.at(j, i));
    });
  });
  work.fill_identity(v);
  sweep(work, a.rows, [&](const Index& p, const Index& q, const Scratch& rotated) {
    const ScalarExpr pp = a.at(p, p), qq = a.at(q, q), pq = a.at(p, q);
    const ScalarExpr off = abs(pq);
    const ScalarExpr scale = sqrt(abs(pp)) * sqrt(abs(qq));
    work.when((off > 1e-17 * scale) & (off >= 1e-300), [&] {
      const Rotation r = rotation_of(pp, qq, pq);
      rotate_columns(work, a, p, q, r);
      rotate_columns(work, a.transposed(), p, q, r);
      rotate_columns(work, v, p, q, r);
      rotated.write(0, work.whole(1));
    });
  });
}

void orthogonalise(const MatrixWork& work, const ScratchMatrix& u, const ScratchMatrix& v,
                   const ScratchMatrix& values) {
  const ScratchMatrix sum = work.matrix("sum", 1, 1);
  const auto dot = [&](const Index& p, const Index& q) {
    sum.put(0, 0, work.real(0));
    work.each(u.rows,
              [&](const Index& i) { sum.put(0, 0, sum.at(0, 0) + u.at(i, p) * u.at(i, q)); });
    return sum.at(0, 0);
  };
  work.fill_identity(v);
  sweep(work, u.columns, [&](const Index& p, const Index& q, const Scratch& rotated) {
    const ScalarExpr pp = dot(p, p), qq = dot(q, q), pq = dot(p, q);
    const ScalarExpr off = abs(pq);
    work.when((off > 1e-16 * sqrt(pp) * sqrt(qq)) & (off >= 1e-300), [&] {
      const Rotation r = rotation_of(pp, qq, pq);
      rotate_columns(work, u, p, q, r);
      rotate_columns(work, v, p, q, r);
      rotated.write(0, work.whole(1));
    });
  });
  work.each(u.columns, [&](const Index& j) { values.put(j, 0, sqrt(dot(j, j))); });
}

void decompose(const MatrixWork& work, const ScratchMatrix& u, const ScratchMatrix& v,
               const ScratchMatrix& values) {
  orthogonalise(work, u, v, values);
  work.each(u.columns, [&](const Index& k) {
    const ScalarExpr value = values.at(k, 0);
    work.when(value > 0.0,
              [&] { work.each(u.rows, [&](const Index& i) { u.put(i, k, u.at(i, k) / value); }); });
  });
}

void read_finite(const MatrixWork& work, const ScratchMatrix& m, std::string_view parameter,
                 const Indices& batch) {
  work.read(m, parameter, batch);
  work.each(m.rows, [&](const Index& i) {
    work.each(m.columns, [&](const Index& j) {
      const ScalarExpr x = m.at(i, j);
      work.require_zero((is_nan(x) | is_infinite(x)).to(DType::i64));
    });
  });
}

Scratch sorted(const MatrixWork& work, std::int64_t count,
               const std::function<ScalarExpr(const Index&)>& value, bool descending) {
  const Scratch order = work.integers("order", count);
  const Scratch before = work.integers("before", 1);
  work.each(count, [&](const Index& i) {
    const ScalarExpr mine = value(i);
    before.write(0, work.whole(0));
    work.each(count, [&](const Index& j) {
      const ScalarExpr other = value(j);
      const ScalarExpr earlier = (other == mine) & (work.number(j) < work.number(i));
      before.write(0, before.read(0) + ((other < mine) | earlier).to(DType::i64));
    });
    const ScalarExpr rank = before.read(0);
    const ScalarExpr position = descending ? static_cast<double>(count - 1) - rank : rank;
    order.write(Nest::checked_index(work.nest.lowering, position, count, false), work.number(i));
  });
  return order;
}

Index column_of(const MatrixWork& work, const Scratch& order, const Index& k, std::int64_t count) {
  return Nest::checked_index(work.nest.lowering, order.read(k), count, false);
}

namespace {

// Canonical signs of columns: -1 where the element of largest magnitude is negative, else +1.
class ColumnSigns {
 public:
  explicit ColumnSigns(const MatrixWork& work)
      : work_(work), largest_(work.matrix("largest", 1, 1)), sign_(work.matrix("sign", 1, 1)) {}

  ScalarExpr of(const ScratchMatrix& m, const Index& j) const {
    largest_.put(0, 0, work_.real(0));
    sign_.put(0, 0, work_.real(1));
    work_.each(m.rows, [&](const Index& i) {
      const ScalarExpr x = m.at(i, j), size = abs(x);
      work_.when(size > largest_.at(0, 0) * (1 + 1e-9), [&] {
        largest_.put(0, 0, size);
        sign_.put(0, 0, copysign(1.0, x));
      });
    });
    return sign_.at(0, 0);
  }

 private:
  const MatrixWork& work_;
  const ScratchMatrix largest_, sign_;
};

// Symmetric matrices
// ---------------------------------------------------------------------------------

// _linalg_eigh, linalg_eigh and linalg_eigvalsh.
void eigh(const Nest& nest) {
  const MatrixWork work(nest);
  const std::string_view operand = first_parameter(nest.call);
  const std::int64_t n = nest.shape_of(operand).back();
  const std::string_view triangle = nest.call.text("UPLO");
  const bool with_vectors = nest.call.op().op != Op::linalg_eigvalsh && nest.is_requested(1);
  work.for_each_matrix(batch_shape(nest.shape_of(operand)), [&](const Indices& at) {
    const ScratchMatrix a = work.matrix("matrix", n, n), v = work.matrix("vectors", n, n);
    read_finite(work, a, operand, at);
    diagonalise(work, a, v, triangle != "U" && triangle != "u");
    const Scratch order = sorted(
        work, n, [&](const Index& i) { return a.at(i, i); }, false);
    work.write_vector(0, at, [&](const Index& k) {
      const Index column = column_of(work, order, k, n);
      return a.at(column, column);
    });
    if (!with_vectors) return;
    const ColumnSigns of_column(work);
    const ScratchMatrix signs = work.matrix("signs", n, 1);
    work.each(n, [&](const Index& j) { signs.put(j, 0, of_column.of(v, j)); });
    work.write(1, at, [&](const Index& i, const Index& k) {
      const Index column = column_of(work, order, k, n);
      return v.at(i, column) * signs.at(column, 0);
    });
  });
}

// Singular vectors
// -----------------------------------------------------------------------------------

// Completes a basis: fills further columns of `u` with orthonormal vectors, by Gram-Schmidt on unit
// vectors, applied twice.
class BasisCompletion {
 public:
  BasisCompletion(const MatrixWork& work, const ScratchMatrix& basis, const Scratch& next)
      : work_(work),
        u_(basis),
        next_(next),
        x_(work.matrix("x", basis.rows, 1)),
        sum_(work.matrix("sum", 1, 1)) {}

  void complete() const {
    work_.each(u_.rows, [&](const Index& unit) {
      work_.when(next_.read(0) < static_cast<double>(u_.columns), [&] {
        make_residue(unit);
        sum_.put(0, 0, work_.real(0));
        work_.each(u_.rows,
                   [&](const Index& i) { sum_.put(0, 0, hypot(sum_.at(0, 0), x_.at(i, 0))); });
        const ScalarExpr norm = sum_.at(0, 0);
        const double least = 0.5 / std::sqrt(static_cast<double>(u_.rows));
        work_.when(norm >= least, [&] { append(norm); });
      });
    });
  }

 private:
  // The part of the unit vector that is orthogonal to the known columns.
  void make_residue(const Index& unit) const {
    work_.each(u_.rows, [&](const Index& i) {
      x_.put(i, 0, select(work_.number(i) == work_.number(unit), work_.real(1), work_.real(0)));
    });
    work_.each(2, [&](const Index&) {
      work_.each(u_.columns, [&](const Index& k) {
        work_.when(work_.number(k) < next_.read(0), [&] { subtract_along(k); });
      });
    });
  }
  void subtract_along(const Index& k) const {
    sum_.put(0, 0, work_.real(0));
    work_.each(u_.rows,
               [&](const Index& i) { sum_.put(0, 0, sum_.at(0, 0) + u_.at(i, k) * x_.at(i, 0)); });
    const ScalarExpr dot = sum_.at(0, 0);
    work_.each(u_.rows, [&](const Index& i) { x_.put(i, 0, x_.at(i, 0) - dot * u_.at(i, k)); });
  }
  void append(const ScalarExpr& norm) const {
    const Index column = Nest::checked_index(work_.nest.lowering, next_.read(0), u_.columns, false);
    work_.each(u_.rows, [&](const Index& i) { u_.put(i, column, x_.at(i, 0) / norm); });
    next_.write(0, next_.read(0) + 1.0);
  }

  const MatrixWork& work_;
  const ScratchMatrix& u_;
  const Scratch& next_;
  const ScratchMatrix x_, sum_;
};

// The decomposition of one matrix, or of its transpose if that is taller.
class SvdNest {
 public:
  SvdNest(const MatrixWork& work, std::int64_t rows, std::int64_t columns)
      : work_(work),
        transposed_(rows < columns),
        u_(work.matrix("left", std::max(rows, columns), std::min(rows, columns))),
        v_(work.matrix("right", u_.columns, u_.columns)),
        values_(work.matrix("values", u_.columns, 1)) {}

  void decompose(std::string_view operand, const Indices& at) {
    read_finite(work_, transposed_ ? u_.transposed() : u_, operand, at);
    orthogonalise(work_, u_, v_, values_);
    order_ = sorted(
        work_, u_.columns, [&](const Index& i) { return values_.at(i, 0); }, true);
  }

  void write_values(std::size_t output, const Indices& at) const {
    work_.write_vector(output, at, [&](const Index& k) { return values_.at(column(k), 0); });
  }

  // Bases with as many vectors as the outputs have.
  void write_bases(const Indices& at, std::size_t left, std::size_t right) const {
    const Shape& u_shape = work_.nest.type(left).shape;
    const Shape& vh_shape = work_.nest.type(right).shape;
    const std::int64_t of_u = u_shape.back(), of_v = matrix_rows(vh_shape);
    const ScratchMatrix tall = work_.matrix("tall", u_.rows, transposed_ ? of_v : of_u);
    const ScratchMatrix small = work_.matrix("small", v_.rows, transposed_ ? of_u : of_v);
    arrange(tall, small);
    work_.write(left, at, transposed_ ? small : tall);
    work_.write(right, at, (transposed_ ? tall : small).transposed());
  }

 private:
  Index column(const Index& k) const { return column_of(work_, *order_, k, u_.columns); }

  void arrange(const ScratchMatrix& tall, const ScratchMatrix& small) const {
    const Scratch rank = work_.integers("rank", 1);
    const ColumnSigns signs(work_);
    rank.write(0, work_.whole(0));
    work_.fill(tall, [&](const Index&, const Index&) { return work_.real(0); });
    work_.each(u_.columns, [&](const Index& k) {
      const Index from = column(k);
      const ScalarExpr sign = signs.of(v_, from);
      const ScalarExpr value = values_.at(from, 0);
      const ScalarExpr vanishes = value <= 1e-15 * values_.at(column(0), 0);
      work_.each(v_.rows, [&](const Index& i) { small.put(i, k, v_.at(i, from) * sign); });
      work_.when(!vanishes, [&] {
        work_.each(u_.rows,
                   [&](const Index& i) { tall.put(i, k, u_.at(i, from) * (sign / value)); });
        rank.write(0, rank.read(0) + 1.0);
      });
    });
    BasisCompletion(work_, tall, rank).complete();
  }

  const MatrixWork& work_;
  const bool transposed_;
  const ScratchMatrix u_, v_, values_;
  std::optional<Scratch> order_;
};

// _linalg_svd, linalg_svd and linalg_svdvals.
void svd(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("A");
  const bool only_values = nest.call.op().op == Op::linalg_svdvals;
  const bool with_bases = !only_values && (nest.is_requested(0) || nest.is_requested(2)) &&
                          nest.type(0).shape.size() == shape.size();
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    SvdNest decomposition(work, matrix_rows(shape), shape.back());
    decomposition.decompose("A", at);
    decomposition.write_values(only_values ? 0 : 1, at);
    if (with_bases) decomposition.write_bases(at, 0, 2);
  });
}

std::optional<std::string> symmetric_too_large(const Call& call) {
  const std::int64_t n = call.tensor(first_parameter(call)).shape.back();
  return beyond_scratch(2 * n * n + 2 * n + 8);
}

std::optional<std::string> svd_too_large(const Call& call) {
  const Shape& shape = call.tensor("A").shape;
  const std::int64_t tall = std::max(matrix_rows(shape), shape.back());
  const std::int64_t thin = std::min(matrix_rows(shape), shape.back());
  const bool full = call.op().parameter("full_matrices") && call.boolean("full_matrices");
  const std::int64_t bases = tall * (full ? tall : thin) + thin * thin;
  return beyond_scratch(tall * thin + thin * thin + bases + 3 * tall + 8);
}

}  // namespace

void add_eigen_svd_nests(NestTable& table) {
  for (const Op op : {Op::_linalg_eigh, Op::linalg_eigh, Op::linalg_eigvalsh})
    table.push_back({op, eigh, symmetric_too_large});
  for (const Op op : {Op::_linalg_svd, Op::linalg_svd, Op::linalg_svdvals})
    table.push_back({op, svd, svd_too_large});
}

}  // namespace recut::loop

// L D L^T of symmetric matrices with pivots of one or two rows, after Bunch and Kaufman (1977), as
// LAPACK's dsytf2 and dsytrs do it for lower triangles. A pivot of two rows is written as the same
// negative number twice. One matrix of a batch is in scratch. Block boundaries are data, so a loop
// visits all rows and works at those where a block begins.
#include <cmath>

#include "engine/codegen/lower/nests/scratch_matrix.h"

namespace recut::loop {
namespace {

class Ldl {
 public:
  Ldl(const MatrixWork& w, std::int64_t order)
      : work(w),
        a(w.matrix("factors", order, order)),
        pivots(w.integers("pivots", order)),
        info(w.integers("info", 1)),
        next_(w.integers("next", 1)),
        row_(w.integers("row", 1)),
        width_(w.integers("width", 1)),
        largest_(w.matrix("largest", 1, 1)) {}

  // Scratch elements that it takes.
  static std::int64_t numbers(std::int64_t order) { return order * order + order + 6; }

  void factor() const {
    info.write(0, work.whole(0));
    next_.write(0, work.whole(0));
    work.each(a.rows, [&](const Index& k) {
      work.when(next_.read(0) == work.number(k), [&] { make_block(k); });
    });
  }

  const MatrixWork& work;
  const ScratchMatrix a;
  const Scratch pivots;  // from 1
  const Scratch info;    // place of the first singular block, from 1; 0: none

 private:
  void make_block(const Index& k) const {
    const ScalarExpr singular = choose_pivot(k);
    work.when(singular & (info.read(0) == 0.0), [&] { info.write(0, work.number(k) + 1.0); });
    const ScalarExpr two = width_.read(0) == 2.0;
    const ScalarExpr row = row_.read(0);
    next_.write(0, work.number(k) + width_.read(0));
    work.when(!two, [&] {
      exchange(k, k, checked(row));
      pivots.write(k, row + 1.0);
      work.when(!singular, [&] { eliminate_one(k); });
    });
    if (a.rows < 2) return;
    work.when(two & (work.number(k) + 1.0 < static_cast<double>(a.rows)), [&] {
      const Index second = k + Index(1);
      exchange(k, second, checked(row));
      pivots.write(k, -(row + 1.0));
      pivots.write(second, -(row + 1.0));
      eliminate_two(k, second);
    });
  }
  Index checked(const ScalarExpr& row) const {
    return Nest::checked_index(work.nest.lowering, row, a.rows, false);
  }

  // Chooses the pivot: the row to exchange, and the width of the block. Returns whether it is
  // singular.
  ScalarExpr choose_pivot(const Index& k) const {
    const double alpha = (1 + std::sqrt(17.0)) / 8;
    const ScalarExpr diagonal = abs(a.at(k, k));
    row_.write(0, work.number(k));
    width_.write(0, work.whole(1));
    largest_.put(0, 0, work.real(0));
    work.each_after(k, a.rows, [&](const Index& i) {
      const ScalarExpr size = abs(a.at(i, k));
      work.when(size > largest_.at(0, 0), [&] {
        largest_.put(0, 0, size);
        row_.write(0, work.number(i));
      });
    });
    const ScalarExpr column = largest_.at(0, 0);
    const ScalarExpr singular =
        (select(diagonal < column, column, diagonal) == 0.0) | is_nan(diagonal);
    const ScalarExpr stays = singular | (diagonal >= alpha * column);
    work.when(stays, [&] { row_.write(0, work.number(k)); });
    work.when(!stays, [&] {
      const Index row = checked(row_.read(0));
      const ScalarExpr widest = largest_in_row(k, row);
      const ScalarExpr still_stays = diagonal >= alpha * column * (column / widest);
      const ScalarExpr alone = abs(a.at(row, row)) >= alpha * widest;
      work.when(still_stays, [&] { row_.write(0, work.number(k)); });
      work.when(!(still_stays | alone), [&] { width_.write(0, work.whole(2)); });
    });
    return singular;
  }

  // The largest off-diagonal element in a row of the remaining matrix.
  ScalarExpr largest_in_row(const Index& k, const Index& row) const {
    largest_.put(0, 0, work.real(0));
    const auto see = [&](const Index& i, const Index& j) {
      const ScalarExpr size = abs(a.at(i, j));
      work.when(size > largest_.at(0, 0), [&] { largest_.put(0, 0, size); });
    };
    work.each_before(row, a.rows, [&](const Index& j) {
      work.when(work.number(j) >= work.number(k), [&] { see(row, j); });
    });
    work.each_after(row, a.rows, [&](const Index& i) { see(i, row); });
    return largest_.at(0, 0);
  }

  // Exchanges rows and columns `from` and `to` of the symmetric matrix below row k.
  void exchange(const Index& k, const Index& from, const Index& to) const {
    work.when(work.number(from) != work.number(to), [&] {
      work.each_after(to, a.rows, [&](const Index& i) { work.swap(a, {i, from}, {i, to}); });
      work.each_after(from, a.rows, [&](const Index& i) {
        work.when(work.number(i) < work.number(to), [&] { work.swap(a, {i, from}, {to, i}); });
      });
      work.swap(a, {from, from}, {to, to});
      if (!(from == k)) work.swap(a, {from, k}, {to, k});
    });
  }

  void eliminate_one(const Index& k) const {
    const ScalarExpr scale = 1.0 / a.at(k, k);
    work.each_after(k, a.rows, [&](const Index& j) {
      work.each(a.rows, [&](const Index& i) {
        work.when(work.number(i) >= work.number(j),
                  [&] { a.put(i, j, a.at(i, j) - scale * a.at(i, k) * a.at(j, k)); });
      });
    });
    work.each_after(k, a.rows, [&](const Index& i) { a.put(i, k, a.at(i, k) * scale); });
  }

  void eliminate_two(const Index& k, const Index& l) const {
    const ScalarExpr off = a.at(l, k);
    const ScalarExpr d11 = a.at(l, l) / off;
    const ScalarExpr d22 = a.at(k, k) / off;
    const ScalarExpr scale = 1.0 / (d11 * d22 - 1.0) / off;
    work.each_after(l, a.rows, [&](const Index& j) {
      const ScalarExpr first = scale * (d11 * a.at(j, k) - a.at(j, l));
      const ScalarExpr second = scale * (d22 * a.at(j, l) - a.at(j, k));
      work.each(a.rows, [&](const Index& i) {
        work.when(work.number(i) >= work.number(j),
                  [&] { a.put(i, j, a.at(i, j) - (a.at(i, k) * first + a.at(i, l) * second)); });
      });
      a.put(j, k, first);
      a.put(j, l, second);
    });
  }

  const Scratch next_;  // first row of the next block
  const Scratch row_, width_;
  const ScratchMatrix largest_;
};

// linalg_ldl_factor and linalg_ldl_factor_ex.
void ldl_factor(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.shape_of("self");
  const bool with_info = nest.call.op().op == Op::linalg_ldl_factor_ex;
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const Ldl ldl(work, shape.back());
    work.read(ldl.a, "self", at);
    ldl.factor();
    work.write(0, at, [&](const Index& i, const Index& j) {
      return triangle_element(work, ldl.a, {}, i, j);
    });
    work.write_vector(1, at, [&](const Index& k) { return ldl.pivots.read(k); });
    if (with_info) work.write_number(2, at, ldl.info.read(0));
    if (!with_info || nest.call.boolean("check_errors")) work.require_zero(ldl.info.read(0));
  });
}

// Solves with factors and pivots from operands, overwriting the right-hand sides.
class LdlSolution {
 public:
  LdlSolution(const MatrixWork& w, const Indices& batch, const Shape& right)
      : work(w),
        a(w.matrix("factors", matrix_rows(right), matrix_rows(right))),
        b(w.matrix("right", matrix_rows(right), right.back())),
        pivots_(w.integers("pivots", matrix_rows(right))),
        widths_(w.integers("widths", matrix_rows(right))),
        n_(matrix_rows(right)) {
    work.read(a, "LD", batch);
    work.read(b, "B", batch);
    read_pivots(batch);
  }

  void solve() const {
    work.each(n_, [&](const Index& k) {  // L D
      at_block(k, [&](const Index& last) {
        swap_rows(last, row_of(k));
        work.each_after(last, n_, [&](const Index& i) {
          subtract(i, a.at(i, k), k);
          if (!(last == k)) subtract(i, a.at(i, last), last);
        });
        solve_block(k, last);
      });
    });
    work.each(n_, [&](const Index& step) {  // L^T
      const Index k = Index(n_ - 1) - step;
      at_block(k, [&](const Index& last) {
        work.each_after(last, n_, [&](const Index& i) {
          subtract(k, a.at(i, k), i);
          if (!(last == k)) subtract(last, a.at(i, last), i);
        });
        swap_rows(last, row_of(k));
      });
    });
  }

  const MatrixWork& work;
  const ScratchMatrix a, b;

 private:
  // Pivots, and the width of D's block in its first row, 0 elsewhere. A block of two rows holds the
  // same negative pivot twice.
  void read_pivots(const Indices& batch) {
    const Shape& shape = work.nest.shape_of("pivots");
    const Indices position = broadcast_index(batch, Shape(shape.begin(), shape.end() - 1));
    work.each(n_, [&](const Index& k) {
      Indices at = position;
      at.push_back(k);
      pivots_.write(k, work.nest.raw("pivots", at).to(DType::i64));
      widths_.write(k, work.whole(1));
    });
    if (n_ == 0) return;
    work.each(n_ - 1, [&](const Index& k) {
      const Index next = k + Index(1);
      work.when((pivots_.read(k) < 0.0) & (widths_.read(k) == 1.0), [&] {
        work.require_zero((pivots_.read(k) != pivots_.read(next)).to(DType::i64));
        widths_.write(k, work.whole(2));
        widths_.write(next, work.whole(0));
      });
    });
    const Index last(n_ - 1);
    work.require_zero(((pivots_.read(last) < 0.0) & (widths_.read(last) == 1.0)).to(DType::i64));
  }

  void at_block(const Index& k, const std::function<void(const Index& last)>& body) const {
    const ScalarExpr width = widths_.read(k);
    work.when(width == 1.0, [&] { body(k); });
    if (n_ < 2) return;
    const ScalarExpr fits = work.number(k) + 1.0 < static_cast<double>(n_);
    work.when((width == 2.0) & fits, [&] { body(k + Index(1)); });
  }

  Index row_of(const Index& k) const {
    const ScalarExpr pivot = pivots_.read(k);
    const ScalarExpr row = select(pivot < 0.0, -pivot, pivot) - 1.0;
    return Nest::checked_index(work.nest.lowering, row, n_, false);
  }
  void swap_rows(const Index& i, const Index& j) const {
    work.each(b.columns, [&](const Index& k) { work.swap(b, {i, k}, {j, k}); });
  }
  // Row `to` minus factor times row `from`.
  void subtract(const Index& to, const ScalarExpr& factor, const Index& from) const {
    work.each(b.columns,
              [&](const Index& k) { b.put(to, k, b.at(to, k) - factor * b.at(from, k)); });
  }

  // The block's rows of b by the inverse of D's block.
  void solve_block(const Index& k, const Index& last) const {
    if (last == k) {
      const ScalarExpr d = a.at(k, k);
      work.each(b.columns, [&](const Index& j) { b.put(k, j, b.at(k, j) / d); });
      return;
    }
    const ScalarExpr off = a.at(last, k);
    const ScalarExpr upper = a.at(k, k) / off, lower = a.at(last, last) / off;
    const ScalarExpr scale = upper * lower - 1.0;
    work.each(b.columns, [&](const Index& j) {
      const ScalarExpr first = b.at(k, j) / off, second = b.at(last, j) / off;
      b.put(k, j, (lower * first - second) / scale);
      b.put(last, j, (upper * second - first) / scale);
    });
  }

  const Scratch pivots_, widths_;
  const std::int64_t n_;
};

void ldl_solve(const Nest& nest) {
  const MatrixWork work(nest);
  const Shape& shape = nest.type().shape;
  work.for_each_matrix(batch_shape(shape), [&](const Indices& at) {
    const LdlSolution solution(work, at, shape);
    solution.solve();
    work.write(0, at, solution.b);
  });
}

std::optional<std::string> factors_too_large_ldl(const Call& call) {
  return beyond_scratch(Ldl::numbers(call.tensor("self").shape.back()));
}

std::optional<std::string> system_too_large_ldl(const Call& call) {
  const Shape& b = call.tensor("B").shape;
  const std::int64_t order = matrix_rows(b);
  return beyond_scratch(order * (order + b.back() + 2));
}

}  // namespace

void add_ldl_nests(NestTable& table) {
  table.push_back({Op::linalg_ldl_factor, ldl_factor, factors_too_large_ldl});
  table.push_back({Op::linalg_ldl_factor_ex, ldl_factor, factors_too_large_ldl});
  table.push_back({Op::linalg_ldl_solve, ldl_solve, system_too_large_ldl});
}

}  // namespace recut::loop

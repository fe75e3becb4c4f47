// Least squares by singular value decomposition, of single matrices in scratch.
#include <algorithm>

#include "engine/codegen/lower/nests/eigen_svd.h"
#include "engine/ir/epsilon.h"

namespace recut::loop {
namespace {

struct Sizes {
  std::int64_t rows, columns, sides;  // sides: right-hand sides

  static Sizes of(const Call& call) {
    const Shape& a = call.tensor("self").shape;
    const Shape& b = call.tensor("b").shape;
    return {matrix_rows(a), a.back(), is_vector(call) ? 1 : b.back()};
  }
  static bool is_vector(const Call& call) {
    return call.tensor("b").rank() == call.tensor("self").rank() - 1;
  }

  bool transposed() const { return rows < columns; }
  std::int64_t tall() const { return std::max(rows, columns); }
  std::int64_t thin() const { return std::min(rows, columns); }
};

// Decomposes one matrix, or its transpose if that is taller, as u diag(values) v^T. A column of u
// stays 0 where its value is 0.
class LeastSquares {
 public:
  LeastSquares(const MatrixWork& work, const Sizes& sizes)
      : work_(work),
        sizes_(sizes),
        a_(work.matrix("matrix", sizes.rows, sizes.columns)),
        u_(work.matrix("left", sizes.tall(), sizes.thin())),
        v_(work.matrix("right", sizes.thin(), sizes.thin())),
        values_(work.matrix("values", sizes.thin(), 1)),
        sum_(work.matrix("sum", 1, 1)) {}

  static std::int64_t numbers(const Sizes& s) {
    const std::int64_t sides = s.rows + s.columns + s.thin();  // b, x and the scratch between them
    return s.rows * s.columns + s.tall() * s.thin() + s.thin() * s.thin() + s.thin() + 1 +
           sides * s.sides;
  }

  void decompose(const Indices& at) const {
    read_finite(work_, a_, "self", at);
    work_.fill(sizes_.transposed() ? u_.transposed() : u_,
               [&](const Index& i, const Index& j) { return a_.at(i, j); });
    loop::decompose(work_, u_, v_, values_);
  }

  // x and the squared residual of each right-hand side.
  void write_solution(const Indices& at) const {
    const bool vector = Sizes::is_vector(work_.nest.call);
    const ScratchMatrix b = work_.matrix("sides", sizes_.rows, sizes_.sides);
    vector ? work_.read_vector(b, "b", at) : work_.read(b, "b", at);
    const ScratchMatrix x = solution(b);
    if (vector)
      work_.write_vector(0, at, [&](const Index& i) { return x.at(i, 0); });
    else
      work_.write(0, at, x);
    work_.write_vector(1, at, [&](const Index& side) {
      const ScratchMatrix squares = work_.matrix("squares", 1, 1);
      squares.put(0, 0, work_.real(0));
      work_.each(sizes_.rows, [&](const Index& i) {
        const ScalarExpr fitted =
            sum_of(sizes_.columns, [&](const Index& j) { return a_.at(i, j) * x.at(j, side); });
        const ScalarExpr off = fitted - b.at(i, side);
        squares.put(0, 0, squares.at(0, 0) + off * off);
      });
      return squares.at(0, 0);
    });
  }

  void write_values(const Indices& at) const {
    const ScalarExpr least = limit();
    const auto counts = [&](const Index& k) { return (values_.at(k, 0) > least).to(DType::f64); };
    work_.write_number(2, at, sum_of(sizes_.thin(), counts).to(DType::i64));
    const Scratch order = sorted(
        work_, sizes_.thin(), [&](const Index& k) { return values_.at(k, 0); }, true);
    work_.write_vector(3, at, [&](const Index& k) {
      return values_.at(column_of(work_, order, k, sizes_.thin()), 0);
    });
  }

 private:
  ScalarExpr sum_of(std::int64_t count, const std::function<ScalarExpr(const Index&)>& term) const {
    sum_.put(0, 0, work_.real(0));
    work_.each(count, [&](const Index& k) { sum_.put(0, 0, sum_.at(0, 0) + term(k)); });
    return sum_.at(0, 0);
  }

  // Singular values up to this limit count as 0.
  ScalarExpr limit() const {
    const Call& call = work_.nest.call;
    const double tolerance = call.given("rcond") ? call.real("rcond")
                                                 : static_cast<double>(sizes_.tall()) *
                                                       epsilon_of(work_.nest.type().dtype);
    sum_.put(0, 0, work_.real(0));
    work_.each(sizes_.thin(),
               [&](const Index& k) { sum_.put(0, 0, larger(sum_.at(0, 0), values_.at(k, 0))); });
    return sum_.at(0, 0) * tolerance;
  }

  // right diag(1 / values) left^T b over the values above the limit.
  ScratchMatrix solution(const ScratchMatrix& b) const {
    const ScratchMatrix& left = sizes_.transposed() ? v_ : u_;
    const ScratchMatrix& right = sizes_.transposed() ? u_ : v_;
    const ScratchMatrix parts = work_.matrix("parts", sizes_.thin(), sizes_.sides);
    const ScratchMatrix x = work_.matrix("solution", sizes_.columns, sizes_.sides);
    const ScalarExpr least = limit();
    work_.fill(parts, [&](const Index& k, const Index& side) {
      const ScalarExpr along =
          sum_of(sizes_.rows, [&](const Index& i) { return left.at(i, k) * b.at(i, side); });
      const ScalarExpr value = values_.at(k, 0);
      return select(value > least, along / value, work_.real(0));
    });
    work_.fill(x, [&](const Index& j, const Index& side) {
      return sum_of(sizes_.thin(),
                    [&](const Index& k) { return right.at(j, k) * parts.at(k, side); });
    });
    return x;
  }

  const MatrixWork& work_;
  const Sizes sizes_;
  const ScratchMatrix a_, u_, v_, values_, sum_;
};

// Ranks and singular values are one a matrix, for any number of broadcast right-hand sides.
void least_squares(const Nest& nest) {
  const MatrixWork work(nest);
  const Sizes sizes = Sizes::of(nest.call);
  const Shape& solved = nest.type(0).shape;
  const std::ptrdiff_t own = Sizes::is_vector(nest.call) ? 1 : 2;
  if (nest.is_requested(0) || nest.is_requested(1))
    work.for_each_matrix({solved.begin(), solved.end() - own}, [&](const Indices& at) {
      const LeastSquares one(work, sizes);
      one.decompose(at);
      one.write_solution(at);
    });
  if (nest.is_requested(2) || nest.is_requested(3))
    work.for_each_matrix(batch_shape(nest.shape_of("self")), [&](const Indices& at) {
      const LeastSquares one(work, sizes);
      one.decompose(at);
      one.write_values(at);
    });
}

std::optional<std::string> system_too_large_least_squares(const Call& call) {
  const Sizes sizes = Sizes::of(call);
  return beyond_scratch(LeastSquares::numbers(sizes) + sizes.thin() + 4);
}

}  // namespace

void add_least_squares_nests(NestTable& table) {
  table.push_back({Op::linalg_lstsq, least_squares, system_too_large_least_squares});
}

}  // namespace recut::loop

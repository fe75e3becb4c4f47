#include <catch2/catch_test_macros.hpp>

#include "engine/eval/kernels/matrices.h"
#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

// A batch of two matrices.
Reals batch(std::int64_t rows, std::int64_t columns) {
  Reals a(Shape{2, rows, columns});
  a.data = noise(2 * rows * columns);
  return a;
}

// Symmetric and positive definite.
Reals definite(std::int64_t n) {
  const Reals a = batch(n, n);
  Reals out(a.shape);
  for (std::int64_t i = 0; i < 2; ++i) {
    Matrix m = matrix_at(a, i) * transposed(matrix_at(a, i));
    for (std::int64_t k = 0; k < n; ++k) m.at(k, k) += 1;
    put_matrix(out, i, m);
  }
  return out;
}

struct Run {
  OneCall c;

  Argument tensor(const Reals& a) { return c.tensor(f64, a.shape, a.data); }
  Reals output(std::string_view name, const Named& named, Shape shape, int index = 0) {
    Reals out;
    out.data = c.run(name, named, index);
    out.shape = std::move(shape);
    return out;
  }
};

void check_equal(const Matrix& a, const Matrix& b) { CHECK(near(a.data, b.data, 1e-10)); }

TEST_CASE("P L U is A, and the first largest pivot leads", "[eval]") {
  for (const auto& [rows, columns] : {std::pair{3, 3}, std::pair{4, 2}, std::pair{2, 4}}) {
    Run r;
    const Reals a = batch(rows, columns);
    const std::int64_t k = std::min(rows, columns);
    const Named named{{"A", r.tensor(a)}};
    const Reals p = r.output("linalg_lu", named, {2, rows, rows}, 0);
    const Reals l = r.output("linalg_lu", named, {2, rows, k}, 1);
    const Reals u = r.output("linalg_lu", named, {2, k, columns}, 2);
    for (std::int64_t i = 0; i < 2; ++i)
      check_equal(matrix_at(p, i) * matrix_at(l, i) * matrix_at(u, i), matrix_at(a, i));
  }
  Run r;
  const Named named{{"A", r.c.tensor(f64, {2, 2}, {1, 2, -1, 4})}};
  CHECK(r.c.run("linalg_lu_factor_ex", named, 1) == List{1, 2});
  CHECK(r.c.run("linalg_lu_factor_ex", named) == List{1, 2, -1, 6});
}

TEST_CASE("solutions solve, from the left, the right and by the adjoint", "[eval]") {
  Run r;
  const Reals a = batch(3, 3);
  const Reals b = batch(3, 2);
  const Reals x = r.output("linalg_solve", {{"A", r.tensor(a)}, {"B", r.tensor(b)}}, b.shape);
  const Reals flat = batch(2, 3);
  const Reals y = r.output(
      "linalg_solve", {{"A", r.tensor(a)}, {"B", r.tensor(flat)}, {"left", false}}, flat.shape);
  const Reals inverse = r.output("linalg_inv", {{"A", r.tensor(a)}}, a.shape);
  for (std::int64_t i = 0; i < 2; ++i) {
    check_equal(matrix_at(a, i) * matrix_at(x, i), matrix_at(b, i));
    check_equal(matrix_at(y, i) * matrix_at(a, i), matrix_at(flat, i));
    check_equal(matrix_at(a, i) * matrix_at(inverse, i), Matrix::identity(3, 3));
  }
  const Named factors{{"A", r.tensor(a)}};
  const Reals lu = r.output("linalg_lu_factor", factors, a.shape);
  const Argument pivots = r.c.tensor(DType::i32, {2, 3}, r.c.run("linalg_lu_factor", factors, 1));
  const Reals z = r.output(
      "linalg_lu_solve",
      {{"LU", r.tensor(lu)}, {"pivots", pivots}, {"B", r.tensor(b)}, {"adjoint", true}}, b.shape);
  for (std::int64_t i = 0; i < 2; ++i)
    check_equal(transposed(matrix_at(a, i)) * matrix_at(z, i), matrix_at(b, i));
}

TEST_CASE("a singular matrix has no inverse, and says so", "[eval]") {
  Run r;
  const Argument a = r.c.tensor(f64, {2, 2}, {1, 2, 2, 4});
  CHECK(r.c.run("linalg_inv_ex", {{"A", a}}, 1) == List{2});
  const auto call = r.c.builder.call("linalg_inv", {{"A", a}});
  REQUIRE(call.ok());
  CHECK(r.c.error_text(*call).find("singular") != std::string::npos);
}

TEST_CASE("determinants, and their logarithms", "[eval]") {
  Run r;
  const Argument a = r.c.tensor(f64, {2, 2}, {1, 2, 3, 4});
  CHECK(near(r.c.run("_linalg_det", {{"A", a}}), {-2}, 1e-14));
  CHECK(r.c.run("_linalg_slogdet", {{"A", a}}) == List{-1});
  CHECK(near(r.c.run("_linalg_slogdet", {{"A", a}}, 1), {std::log(2.0)}, 1e-14));
  CHECK(r.c.run("_linalg_det", {{"A", r.c.tensor(f64, {0, 0}, {})}}) == List{1});
  CHECK(r.c.run("_linalg_slogdet", {{"A", r.c.tensor(f64, {1, 1}, {0})}}, 1) == List{-kInf});
}

TEST_CASE("triangular factors of definite matrices", "[eval]") {
  Run r;
  const Reals a = definite(4);
  const Reals b = batch(4, 2);
  for (const bool upper : {false, true}) {
    const Reals f = r.output("linalg_cholesky", {{"self", r.tensor(a)}, {"upper", upper}}, a.shape);
    const Reals x =
        r.output("cholesky_solve",
                 {{"self", r.tensor(b)}, {"input2", r.tensor(f)}, {"upper", upper}}, b.shape);
    for (std::int64_t i = 0; i < 2; ++i) {
      const Matrix m = matrix_at(f, i);
      check_equal(upper ? transposed(m) * m : m * transposed(m), matrix_at(a, i));
      check_equal(matrix_at(a, i) * matrix_at(x, i), matrix_at(b, i));
    }
  }
  const Argument indefinite = r.c.tensor(f64, {2, 2}, {1, 2, 2, 1});
  CHECK(r.c.run("linalg_cholesky_ex", {{"self", indefinite}}, 1) == List{2});
}

TEST_CASE("Q R is A, with LAPACK's signs", "[eval]") {
  for (const auto& [rows, columns] : {std::pair{4, 3}, std::pair{3, 3}, std::pair{2, 4}}) {
    Run r;
    const Reals a = batch(rows, columns);
    const std::int64_t k = std::min(rows, columns);
    const Named named{{"A", r.tensor(a)}};
    const Reals q = r.output("linalg_qr", named, {2, rows, k}, 0);
    const Reals upper = r.output("linalg_qr", named, {2, k, columns}, 1);
    for (std::int64_t i = 0; i < 2; ++i) {
      check_equal(matrix_at(q, i) * matrix_at(upper, i), matrix_at(a, i));
      check_equal(transposed(matrix_at(q, i)) * matrix_at(q, i), Matrix::identity(k, k));
    }
  }
  Run r;
  // The diagonal takes the sign that the column's head has not.
  CHECK(near(r.c.run("geqrf", {{"self", r.c.tensor(f64, {2, 1}, {3, 4})}}), {-5, 0.5}, 1e-14));
  CHECK(near(r.c.run("geqrf", {{"self", r.c.tensor(f64, {2, 1}, {3, 4})}}, 1), {1.6}, 1e-14));
}

TEST_CASE("reflections multiply without their product being made", "[eval]") {
  Run r;
  const Named factored{{"self", r.tensor(batch(4, 3))}};
  const Reals v = r.output("geqrf", factored, {2, 4, 3});
  const Argument tau = r.c.tensor(f64, {2, 3}, r.c.run("geqrf", factored, 1));
  // All four columns of Q: the vectors widened by one of zeros.
  Reals wide(Shape{2, 4, 4});
  for (std::int64_t i = 0; i < 2; ++i) {
    Matrix m(4, 4);
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t column = 0; column < 3; ++column)
        m.at(row, column) = matrix_at(v, i).at(row, column);
    put_matrix(wide, i, m);
  }
  const Reals q =
      r.output("linalg_householder_product", {{"input", r.tensor(wide)}, {"tau", tau}}, wide.shape);
  const Reals other = batch(4, 4);
  for (const bool left : {true, false})
    for (const bool turned : {true, false}) {
      const Reals product = r.output("ormqr",
                                     {{"self", r.tensor(v)},
                                      {"input2", tau},
                                      {"input3", r.tensor(other)},
                                      {"left", left},
                                      {"transpose", turned}},
                                     other.shape);
      for (std::int64_t i = 0; i < 2; ++i) {
        const Matrix m = turned ? transposed(matrix_at(q, i)) : matrix_at(q, i);
        check_equal(matrix_at(product, i),
                    left ? m * matrix_at(other, i) : matrix_at(other, i) * m);
      }
    }
}

TEST_CASE("L D L^T solves symmetric systems", "[eval]") {
  Run r;
  // Zeros on the diagonal need pivots of two rows.
  const Reals b = batch(4, 2);
  Reals a(Shape{2, 4, 4});
  for (std::int64_t i = 0; i < 2; ++i) {
    Matrix m = matrix_at(batch(4, 4), i);
    for (std::int64_t row = 0; row < 4; ++row) {
      for (std::int64_t column = 0; column < row; ++column) m.at(column, row) = m.at(row, column);
      if (i == 1) m.at(row, row) = 0;
    }
    put_matrix(a, i, m);
  }
  const Named named{{"self", r.tensor(a)}};
  const Reals factors = r.output("linalg_ldl_factor_ex", named, a.shape);
  const Argument pivots = r.c.tensor(DType::i32, {2, 4}, r.c.run("linalg_ldl_factor_ex", named, 1));
  const Reals x =
      r.output("linalg_ldl_solve",
               {{"LD", r.tensor(factors)}, {"pivots", pivots}, {"B", r.tensor(b)}}, b.shape);
  for (std::int64_t i = 0; i < 2; ++i)
    check_equal(matrix_at(a, i) * matrix_at(x, i), matrix_at(b, i));
}

TEST_CASE("eigenvectors and singular vectors", "[eval]") {
  Run r;
  const Reals a = definite(4);
  const Named named{{"A", r.tensor(a)}};
  const List values = r.c.run("_linalg_eigh", named);
  const Reals v = r.output("_linalg_eigh", named, a.shape, 1);
  for (std::int64_t i = 0; i < 2; ++i) {
    Matrix scaled = matrix_at(v, i);
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t k = 0; k < 4; ++k)
        scaled.at(row, k) *= values[static_cast<std::size_t>(i * 4 + k)];
    check_equal(matrix_at(a, i) * matrix_at(v, i), scaled);
    CHECK(std::is_sorted(values.begin() + i * 4, values.begin() + (i + 1) * 4));
  }
  for (const auto& [rows, columns] : {std::pair{4, 3}, std::pair{2, 3}}) {
    const Reals b = batch(rows, columns);
    const Named full{{"A", r.tensor(b)}, {"full_matrices", true}};
    const Reals u = r.output("_linalg_svd", full, {2, rows, rows}, 0);
    const List s = r.c.run("_linalg_svd", full, 1);
    const Reals vh = r.output("_linalg_svd", full, {2, columns, columns}, 2);
    const std::int64_t k = std::min(rows, columns);
    for (std::int64_t i = 0; i < 2; ++i) {
      Matrix middle(rows, columns);
      for (std::int64_t d = 0; d < k; ++d) middle.at(d, d) = s[static_cast<std::size_t>(i * k + d)];
      check_equal(matrix_at(u, i) * middle * matrix_at(vh, i), matrix_at(b, i));
      check_equal(transposed(matrix_at(u, i)) * matrix_at(u, i), Matrix::identity(rows, rows));
    }
  }
}

TEST_CASE("a pseudo-inverse of less than full rank", "[eval]") {
  Run r;
  Reals a(Shape{2, 3, 3});
  for (std::int64_t i = 0; i < 2; ++i)
    put_matrix(a, i, matrix_at(batch(3, 2), i) * matrix_at(batch(2, 3), i));
  const Reals p = r.output("linalg_pinv.atol_rtol_tensor", {{"self", r.tensor(a)}}, a.shape);
  for (std::int64_t i = 0; i < 2; ++i) {
    const Matrix m = matrix_at(a, i);
    check_equal(m * matrix_at(p, i) * m, m);
    check_equal(matrix_at(p, i) * m * matrix_at(p, i), matrix_at(p, i));
  }
}

TEST_CASE("least squares, exponentials and cross products", "[eval]") {
  Run r;
  const Argument a = r.c.tensor(f64, {3, 1}, {1, 1, 1});
  const Argument b = r.c.tensor(f64, {3, 1}, {1, 2, 6});
  CHECK(near(r.c.run("linalg_lstsq", {{"self", a}, {"b", b}}), {3}, 1e-12));
  // Which outputs are empty is the file's to say; their shapes are not.
  const auto recorded = [&](Shape solution, Shape residuals) {
    return r.c.builder.append("linalg_lstsq", {{"self", a}, {"b", b}},
                              {make_type(f64, solution), make_type(f64, residuals),
                               make_type(DType::i64, {}), make_type(f64, {0})});
  };
  CHECK(near(r.c.value(recorded({1, 1}, {1}), 1), {14}, 1e-12));
  CHECK(r.c.error_text(recorded({2, 1}, {0})).find("gives [1, 1]") != std::string::npos);
  CHECK(r.c.error_text(recorded({1, 1}, {2})).find("expected [1]") != std::string::npos);
  // The generator of rotations, and a norm that needs squarings.
  const Argument turn = r.c.tensor(f64, {2, 2}, {0, -20, 20, 0});
  CHECK(near(r.c.run("matrix_exp", {{"self", turn}}),
             {std::cos(20.0), -std::sin(20.0), std::sin(20.0), std::cos(20.0)}, 1e-12));
  CHECK(r.c.run("linalg_cross", {{"self", r.c.reals({1, 0, 0})},
                                 {"other", r.c.reals({0, 1, 0})}}) == List{0, 0, 1});
}

}  // namespace
}  // namespace recut::test

#include <catch2/catch_test_macros.hpp>

#include "engine/eval/kernels/gemm.h"
#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

TEST_CASE("products of matrices, vectors and batches", "[eval]") {
  OneCall c;
  const Argument a = c.tensor(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Argument b = c.tensor(f32, {3, 2}, {1, 0, 2, 1, 0, 3});
  const Argument self = c.tensor(f32, {2}, {100, 200});
  CHECK(close(c.run("mm", {{"self", a}, {"mat2", b}}), {5, 11, 14, 23}));
  CHECK(close(c.run("addmm", {{"self", self}, {"mat1", a}, {"mat2", b}}), {105, 211, 114, 223}));
  CHECK(
      close(c.run("addmm", {{"self", self}, {"mat1", a}, {"mat2", b}, {"beta", 2}, {"alpha", 10}}),
            {250, 510, 340, 630}));
  const Argument vector = c.reals({1, 0, -1});
  CHECK(close(c.run("mv", {{"self", a}, {"vec", vector}}), {-2, -2}));
  CHECK(close(c.run("dot", {{"self", vector}, {"tensor", c.reals({3, 4, 5})}}), {-2}));
  CHECK(
      close(c.run("outer", {{"self", c.reals({1, 2})}, {"vec2", c.reals({3, 4})}}), {3, 4, 6, 8}));
  CHECK(close(c.run("matmul", {{"self", vector}, {"other", b}}), {1, -3}));
  CHECK(
      close(c.run("linear", {{"input", a}, {"weight", a}, {"bias", self}}), {114, 232, 132, 277}));
  CHECK(close(c.run("inner", {{"self", a}, {"other", vector}}), {-2, -2}));
}

TEST_CASE("batches broadcast in matmul, and not in bmm", "[eval]") {
  OneCall c;
  const Argument a = c.tensor(f32, {2, 1, 2}, {1, 2, 3, 4});
  const Argument b = c.tensor(f32, {2, 2, 1}, {1, 1, 2, 0});
  CHECK(close(c.run("bmm", {{"self", a}, {"mat2", b}}), {3, 6}));
  const Argument wide = c.tensor(f32, {3, 1, 2, 1}, {1, 1, 2, 0, 0, 1});
  CHECK(close(c.run("matmul", {{"self", a}, {"other", wide}}), {3, 7, 2, 6, 2, 4}));
  CHECK(
      close(c.run("addbmm", {{"self", c.tensor(f32, {1, 1}, {10})}, {"batch1", a}, {"batch2", b}}),
            {19}));
  CHECK(close(c.run("baddbmm", {{"self", c.tensor(f32, {1}, {10})}, {"batch1", a}, {"batch2", b}}),
              {13, 16}));
}

TEST_CASE("what a product leaves out", "[eval]") {
  OneCall c;
  const Argument a = c.tensor(f32, {1, 1}, {2});
  // Where beta is 0, a NaN in self doesn't count.
  CHECK(close(c.run("addmm", {{"self", c.reals({kNan})}, {"mat1", a}, {"mat2", a}, {"beta", 0}}),
              {4}));
  // No products to add: zeros.
  const Argument tall = c.tensor(f32, {2, 0}, {});
  const Argument flat = c.tensor(f32, {0, 2}, {});
  CHECK(c.run("mm", {{"self", tall}, {"mat2", flat}}) == List{0, 0, 0, 0});
  CHECK(c.run("mm", {{"self", flat}, {"mat2", tall}}).empty());
}

TEST_CASE("integers are multiplied as integers and wrap", "[eval]") {
  OneCall c;
  const Argument big = c.tensor(DType::i64, {1, 1}, {4611686018427387904.0});  // 2^62
  const Argument four = c.tensor(DType::i64, {1, 1}, {4});
  CHECK(c.run("mm", {{"self", big}, {"mat2", four}}) == List{0});
  const Argument bytes = c.tensor(DType::i8, {1, 2}, {100, 100});
  const Argument column = c.tensor(DType::i8, {2, 1}, {100, 100});
  CHECK(c.run("_int_mm", {{"self", bytes}, {"mat2", column}}) == List{20000});
}

TEST_CASE("packed panels give what three loops give", "[eval]") {
  // Sizes on both sides of the panels' width and the blocks' depth.
  for (const std::int64_t n : {1, 2, 5})
    for (const std::int64_t k : {1, 256, 300})
      for (const std::int64_t m : {1, 8, 13}) {
        const List a = noise(n * k);
        const List b = noise(k * m, 1);
        List c(static_cast<std::size_t>(n * m), 0.5);
        List expected = c;
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < m; ++j)
            for (std::int64_t l = 0; l < k; ++l)
              expected[static_cast<std::size_t>(i * m + j)] +=
                  a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * m + j)];
        multiply_add(n, k, m, {a.data(), k}, {b.data(), m}, c.data(), m);
        CHECK(c == expected);  // to the bit: every sum goes in order of k
      }
}

TEST_CASE("distances between rows", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f32, {2, 2}, {0, 0, 3, 4});
  const Argument y = c.tensor(f32, {1, 2}, {0, 4});
  const auto cdist = [&](double p) {
    return c.run("_cdist_forward", {{"x1", x}, {"x2", y}, {"p", p}, {"compute_mode", None{}}});
  };
  CHECK(close(cdist(2), {4, 3}));
  CHECK(close(cdist(1), {4, 3}));
  CHECK(close(cdist(0), {1, 1}));
  CHECK(close(cdist(kInf), {4, 3}));
  CHECK(close(c.run("_pdist_forward", {{"self", x}, {"p", 2.0}}), {5}));
}

TEST_CASE("gradients of distances", "[eval]") {
  const List y = noise(6, 2);
  const List weights = noise(6, 3);
  for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const auto forward = [&](const List& x) {
      OneCall c;
      return c.run("_cdist_forward", {{"x1", c.tensor(f64, {3, 3}, x)},
                                      {"x2", c.tensor(f64, {2, 3}, y)},
                                      {"p", p},
                                      {"compute_mode", None{}}});
    };
    const List x = noise(9);
    OneCall c;
    const List found = c.run("_cdist_backward", {{"grad", c.tensor(f64, {3, 2}, weights)},
                                                 {"x1", c.tensor(f64, {3, 3}, x)},
                                                 {"x2", c.tensor(f64, {2, 3}, y)},
                                                 {"p", p},
                                                 {"cdist", c.tensor(f64, {3, 2}, forward(x))}});
    INFO("p " << p);
    CHECK(near(found, numeric_gradient(forward, x, weights)));
  }
}

TEST_CASE("a trilinear sum is a bilinear layer", "[eval]") {
  // sum over i and j of x[n, i] w[o, i, j] y[n, j]: one sample, one output.
  OneCall c;
  const Argument x = c.tensor(f32, {1, 2}, {1, 2});
  const Argument w = c.tensor(f32, {1, 2, 2}, {1, 2, 3, 4});
  const Argument y = c.tensor(f32, {1, 2}, {5, 6});
  CHECK(close(c.run("_trilinear", {{"i1", x},
                                   {"i2", w},
                                   {"i3", y},
                                   {"expand1", ints({1, 3})},
                                   {"expand2", ints({0})},
                                   {"expand3", ints({1, 2})},
                                   {"sumdim", ints({2, 3})}}),
              {5 + 12 + 2 * 15 + 2 * 24}));
}

}  // namespace
}  // namespace recut::test

#include <catch2/catch_test_macros.hpp>

#include "tests/eval/one_call.h"

namespace recut::test {
namespace {

using List = std::vector<double>;

struct Row {
  std::string_view name;
  List in;
  List out;
};

void check(std::span<const Row> rows, const std::string& parameter = "self") {
  for (const Row& row : rows) {
    INFO(row.name);
    OneCall c;
    const auto count = static_cast<std::int64_t>(row.in.size());
    CHECK(close(c.run(row.name, {{parameter, c.tensor(DType::f64, {count}, row.in)}}), row.out,
                1e-9));
  }
}

// Values from tables (Abramowitz and Stegun; DLMF), on both sides of where the methods change over.
TEST_CASE("error functions and the normal distribution", "[eval]") {
  const Row rows[] = {
      {"erf", {0.5}, {0.52049987781304654}},
      {"erfinv", {0, 0.52049987781304654, -0.84270079294971487, 1, 1.5}, {0, 0.5, -1, kInf, kNan}},
      {"erfinv", {1e-10, 0.99997790950300141}, {8.862269254527581e-11, 3}},
      {"special_erfcx",
       {0, 1, 30, -1},
       {1, 0.42758357615580700, 0.018795888861416751, 5.0089800807622834}},
      {"special_ndtr", {0, 1}, {0.5, 0.84134474606854295}},
      {"special_ndtri",
       {0, 0.5, 0.84134474606854295, 1e-20, -1, 1},
       {-kInf, 0, 1, -9.2623400897984076, kNan, kInf}},
      {"special_log_ndtr", {0, -40}, {-0.69314718055994531, -804.60844201375379}},
      {"special_entr", {0, 1, 0.5, -1, kNan}, {0, -0.0, 0.34657359027997265, -kInf, kNan}},
  };
  check(rows);
}

TEST_CASE("gamma functions", "[eval]") {
  const double pi = 3.14159265358979323846;
  const Row rows[] = {
      {"lgamma", {1, 0.5, 100, 0}, {0, 0.57236494292470009, 359.13420536957540, kInf}},
      {"digamma",
       {1, 0.5, 0, -0.0, -1, -0.5},
       {-0.57721566490153286, -1.9635100260214235, -kInf, kInf, kNan, 0.036489973978576520}},
      {"i0", {0, 1, -50}, {1, 1.2660658777520083, 2.9325537838493360e20}},
  };
  check(rows);
  OneCall c;
  const auto of = [&](List values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return c.tensor(DType::f64, {count}, values);
  };
  CHECK(close(c.run("polygamma", {{"n", 1}, {"self", of({1, 0.25, 0, -0.5})}}),
              {pi * pi / 6, 17.197329154507110, kInf, 8.9348022005446793}, 1e-9));
  CHECK(close(c.run("polygamma", {{"n", 2}, {"self", of({1, -0.5, -1e-30})}}),
              {-2.4041138063191886, -0.8287966442343200, 2e90}, 1e-9));
  CHECK(close(c.run("special_zeta", {{"self", of({2, 3, 2, 1, 0.5, 2, 2.5, 2})},
                                     {"other", of({1, 1, 1000, 1, 1, 0, -0.5, -0.5})}}),
              {pi * pi / 6, 1.2020569031595943, 0.0010005001666666333, kInf, kNan, kInf, kNan,
               8.9348022005446793},
              1e-9));
  CHECK(close(c.run("mvlgamma", {{"self", of({3})}, {"p", 1}}), {0.69314718055994531}, 1e-9));
}

TEST_CASE("incomplete gamma functions", "[eval]") {
  OneCall c;
  const auto of = [&](List values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return c.tensor(DType::f64, {count}, values);
  };
  const List a = {1, 0.5, 5, 5, 0, 0, 2, 2, 20000, kInf, -1};
  const List x = {1, 0.25, 2, 12, 1, 0, 0, kInf, 20000, 3, 1};
  const List lower = {0.63212055882855768,
                      0.52049987781304654,
                      0.052653017343711157,
                      0.992399609318933,
                      1,
                      kNan,
                      0,
                      1,
                      0.50094031623374932,
                      0,
                      kNan};
  CHECK(close(c.run("igamma", {{"self", of(a)}, {"other", of(x)}}), lower, 1e-9));
  const List upper = c.run("igammac", {{"self", of(a)}, {"other", of(x)}});
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(i);
    if (std::isnan(lower[i]))
      CHECK(std::isnan(upper[i]));
    else
      CHECK(std::abs(lower[i] + upper[i] - 1) < 1e-9);
  }
}

TEST_CASE("Bessel and Airy functions", "[eval]") {
  const Row rows[] = {
      {"special_bessel_j0",
       {0, 1, -1, 11.9, 12.1, 100},
       {1, 0.76519768655796655, 0.76519768655796655, 0.025049441699589564, 0.069666773606807388,
        0.019985850304223122}},
      {"special_bessel_j1",
       {1, -1, 100},
       {0.44005058574493352, -0.44005058574493352, -0.077145352014112159}},
      {"special_bessel_y0",
       {0, 1, -1, 100},
       {-kInf, 0.088256964215676958, kNan, -0.077244313365083153}},
      {"special_bessel_y1", {0, 1, 100}, {-kInf, -0.78121282130028872, -0.020372312002759793}},
      {"special_i0e", {1, 100}, {0.46575960759364043, 0.039944379299096683}},
      {"special_i1", {-1, 1}, {-0.56515910399248503, 0.56515910399248503}},
      {"special_i1e", {1, 100}, {0.20791041534970845, 0.039744153025130253}},
      {"special_modified_bessel_i0", {1}, {1.2660658777520083}},
      {"special_modified_bessel_i1", {1}, {0.56515910399248503}},
      {"special_modified_bessel_k0",
       {0, 0.5, 2, -1},
       {kInf, 0.92441907122766587, 0.11389387274953344, kNan}},
      {"special_modified_bessel_k1", {0.5, 2}, {1.6564411200033009, 0.13986588181652243}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    OneCall c;
    const auto count = static_cast<std::int64_t>(row.in.size());
    CHECK(close(c.run(row.name, {{"self", c.tensor(DType::f64, {count}, row.in)}}), row.out, 1e-9));
  }
  const Row of_x[] = {
      {"special_scaled_modified_bessel_k0", {1, 100}, {1.1444630798068949, 0.12517562165912658}},
      {"special_scaled_modified_bessel_k1", {1, 100}, {1.6361534862632582, 0.12579995047957854}},
      {"special_spherical_bessel_j0", {0, 1, kInf}, {1, 0.84147098480789651, 0}},
      {"special_airy_ai",
       {0, 1, 3, -2, -10},
       {0.35502805388781724, 0.13529241631288141, 0.0065911393574607192, 0.22740742820168557,
        0.040241238486443191}},
  };
  check(of_x, "x");
}

// The methods for small and for large arguments agree where they meet.
TEST_CASE("Bessel functions have no step where the method changes", "[eval]") {
  OneCall c;
  const double edges[] = {12, 12, 12, 12, 30, 30, 1, 1};
  const std::string_view names[] = {"special_bessel_j0",
                                    "special_bessel_j1",
                                    "special_bessel_y0",
                                    "special_bessel_y1",
                                    "special_i0e",
                                    "special_i1e",
                                    "special_modified_bessel_k0",
                                    "special_modified_bessel_k1"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    INFO(names[i]);
    const List around =
        c.run(names[i], {{"self", c.tensor(DType::f64, {2}, {edges[i] * (1 - 1e-12), edges[i]})}});
    CHECK(std::abs(around[0] - around[1]) < 1e-9);
  }
}

TEST_CASE("orthogonal polynomials", "[eval]") {
  struct Polynomial {
    std::string_view name;
    double x, n, value;
  };
  const Polynomial rows[] = {
      {"chebyshev_polynomial_t", 0.5, 3, -1},
      {"chebyshev_polynomial_t", 0.5, 9, -1},
      {"chebyshev_polynomial_t", -1, 5, -1},
      {"chebyshev_polynomial_t", 2, 2, 7},
      {"chebyshev_polynomial_t", 0.5, -1, 0},
      {"chebyshev_polynomial_u", 0.5, 3, -1},
      {"chebyshev_polynomial_u", 1, 4, 5},
      {"chebyshev_polynomial_v", 0.5, 2, -1},
      {"chebyshev_polynomial_w", 0.5, 2, 1},
      {"hermite_polynomial_h", 2, 3, 40},
      {"hermite_polynomial_he", 2, 3, 2},
      {"hermite_polynomial_h", 2, 200, kNan},
      {"laguerre_polynomial_l", 2, 2, -1},
      {"legendre_polynomial_p", 0.5, 2, -0.125},
      {"shifted_chebyshev_polynomial_t", 0.75, 3, -1},
      {"shifted_chebyshev_polynomial_u", 1, 4, 5},
      {"legendre_polynomial_p", 0.5, 1.9, 0.5},
  };
  for (const Polynomial& row : rows) {
    INFO(row.name << " " << row.x << " " << row.n);
    OneCall c;
    const std::string name = "special_" + std::string(row.name);
    CHECK(close(c.run(name, {{"x", c.reals({row.x})}, {"n", c.reals({row.n})}}), {row.value}));
    CHECK(close(c.run(name + ".n_scalar", {{"x", c.reals({row.x})}, {"n", row.n}}), {row.value}));
  }
}

}  // namespace
}  // namespace recut::test

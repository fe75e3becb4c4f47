#include "engine/eval/compare.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

namespace recut {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor tensor(DType dtype, std::vector<double> values) {
  Tensor t = allocate(make_type(dtype, {static_cast<std::int64_t>(values.size())}), nullptr);
  Reals reals(t.shape);
  reals.data = std::move(values);
  pack(reals, t);
  return t;
}

bool agree(DType dtype, std::vector<double> found, std::vector<double> expected) {
  return compare(tensor(dtype, std::move(found)), tensor(dtype, std::move(expected))).ok;
}

TEST_CASE("reals agree within a bound of norms") {
  CHECK(agree(DType::f32, {1, 2, 3}, {1, 2, 3}));
  CHECK(agree(DType::f32, {1, 2, 3.00002f}, {1, 2, 3}));
  CHECK_FALSE(agree(DType::f32, {1, 2, 3.0001f}, {1, 2, 3}));
  CHECK(agree(DType::f32, {1e-6}, {0}));
  CHECK_FALSE(agree(DType::f32, {2e-6}, {0}));
  CHECK(agree(DType::bf16, {1.0078125}, {1}));
  CHECK_FALSE(agree(DType::bf16, {1.03125}, {1}));
  CHECK(agree(DType::f32, {}, {}));
  // Squares of these overflow; an overflow on both sides would make anything agree.
  CHECK_FALSE(agree(DType::f64, {2e200}, {1e200}));
  CHECK(agree(DType::f64, {1e200}, {1e200}));
  CHECK_FALSE(agree(DType::f64, {-1.7e308}, {1.7e308}));
}

TEST_CASE("a larger error is allowed where the comparer says so, and a smaller one never") {
  const Tensor expected = tensor(DType::f32, {3, 4});
  const Tensor near = tensor(DType::f32, {3, 4.05f});  // 0.01 of the norm
  CHECK_FALSE(compare(near, expected).ok);
  CHECK_FALSE(compare(near, expected, 2e-3).ok);
  CHECK(compare(near, expected, 2e-2).ok);
  CHECK(compare(tensor(DType::bf16, {1.0078125}), tensor(DType::bf16, {1}), 2e-3).ok);
  // Next to nothing is told from nothing as before.
  CHECK_FALSE(compare(tensor(DType::f32, {2e-6}), tensor(DType::f32, {0}), 2e-2).ok);
}

TEST_CASE("NaN and infinities stand where they are expected, and nowhere else") {
  CHECK(agree(DType::f32, {kNan, 1, kInf, -kInf}, {kNan, 1, kInf, -kInf}));
  CHECK_FALSE(agree(DType::f32, {kNan, 1}, {0, 1}));
  CHECK_FALSE(agree(DType::f32, {0, 1}, {kNan, 1}));
  CHECK_FALSE(agree(DType::f32, {kInf}, {-kInf}));
  CHECK_FALSE(agree(DType::f32, {kInf}, {1}));
  CHECK_FALSE(agree(DType::f32, {1}, {kInf}));
  const auto report = compare(tensor(DType::f32, {1, 5, kNan}), tensor(DType::f32, {1, 2, 3}));
  CHECK(report.problem == "1 elements differ in NaN or infinity");
  REQUIRE(report.worst);
  CHECK(report.worst->index == 2);
}

TEST_CASE("integers and bools agree exactly, shapes and dtypes always") {
  CHECK(agree(DType::i64, {1, 2}, {1, 2}));
  const auto report = compare(tensor(DType::i32, {1, 2, 4}), tensor(DType::i32, {1, 3, 3}));
  CHECK_FALSE(report.ok);
  CHECK(report.error == 2);
  REQUIRE(report.worst);
  CHECK(report.worst->index == 1);
  CHECK_FALSE(agree(DType::boolean, {1}, {0}));
  CHECK(compare(tensor(DType::f32, {1}), tensor(DType::f64, {1})).problem ==
        "f32[1] found, expected f64[1]");
  CHECK(compare(tensor(DType::f32, {1}), tensor(DType::f32, {1, 1})).problem ==
        "f32[1] found, expected f32[2]");
}

}  // namespace
}  // namespace recut

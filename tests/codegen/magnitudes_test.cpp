// Deviations and norms of numbers whose squares exceed f32: they must not overflow or vanish.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/autodiff/differentiate.h"
#include "tests/codegen/given_inputs.h"

namespace recut::test {
namespace {

// A row of each magnitude, with the deviation, the mean and the Euclidean norm that it has.
constexpr double kTiny = 1e-30, kHuge = 1e30;

Numbers rows(const Numbers& one) {
  Numbers all;
  for (const double scale : {kTiny, 1.0, kHuge})
    for (const double x : one) all.push_back(scale * x);
  return all;
}

TEST_CASE("deviations of tiny and of huge numbers neither vanish nor overflow", "[codegen][cpu]") {
  const GivenNumbers given = {{"x", rows({1, 2, 3})}};
  const auto of = [](const std::string& call, const std::string& results) {
    return graph_of("  %x = input f32[3, 3]\n" + call + "  results " + results +
                    "\n  gradients none");
  };
  CHECK(wrong_numbers(of("  %y = std.correction(%x, [1], correction=1)\n", "%y"), given,
                      {kTiny, 1, kHuge}, true) == "");
  CHECK(wrong_numbers(of("  %y = std.dim(%x, [1], true)\n", "%y"), given, {kTiny, 1, kHuge}) == "");
  CHECK(wrong_numbers(of("  %o = std_mean.correction(%x, [1], correction=1)\n"
                         "  %s = getitem(%o, 0)\n  %m = getitem(%o, 1)\n",
                         "%s, %m"),
                      given, {kTiny, 1, kHuge, 2 * kTiny, 2, 2 * kHuge}) == "");
  // Results beyond f32 itself stay 0 and infinity.
  CHECK(wrong_numbers(of("  %y = var.correction(%x, [1], correction=1)\n", "%y"), given,
                      {0, 1, HUGE_VAL}) == "");
}

TEST_CASE("norms of tiny and of huge numbers neither vanish nor overflow", "[codegen][cpu]") {
  const GivenNumbers given = {{"x", rows({3, 0, -4})}, {"z", Numbers(9, 0)}};
  const auto of = [](const std::string& call) {
    return graph_of("  %x = input f32[3, 3]\n  %z = input f32[3, 3]\n  %y = " + call +
                    "\n  results %y\n  gradients none, none");
  };
  const Numbers two = {5 * kTiny, 5, 5 * kHuge};
  const double three = std::cbrt(27.0 + 64.0);
  CHECK(wrong_numbers(of("linalg_vector_norm(%x, 2, [1])"), given, two, true) == "");
  CHECK(wrong_numbers(of("norm.ScalarOpt_dim(%x, 2, [1])"), given, two) == "");
  CHECK(wrong_numbers(of("linalg_vector_norm(%x, 3, [1])"), given,
                      {three * kTiny, three, three * kHuge}) == "");
  CHECK(wrong_numbers(of("dist(%x, %z, 2)"), given, {5 * kHuge}) == "");
  CHECK(wrong_numbers(of("pairwise_distance(%x, %z, 2, 0)"), given, two) == "");
  CHECK(wrong_numbers(of("_cdist_forward(%x, %z, 2, 2)"), given,
                      {two[0], two[0], two[0], two[1], two[1], two[1], two[2], two[2], two[2]}) ==
        "");
  CHECK(wrong_numbers(of("cosine_similarity(%x, %x, 1, 0)"), given, {1, 1, 1}) == "");
}

TEST_CASE("normalisations of tiny and of huge rows are those of plain ones", "[codegen][cpu]") {
  const double a = std::sqrt(1.5);
  const GivenNumbers given = {{"x", rows({1, 2, 3})}, {"w", {1, 1, 1}}};
  const auto of = [](const std::string& call) {
    return graph_of("  %x = input f32[3, 3]\n  %w = input f32[3]\n  %o = " + call +
                    "\n  %y = getitem(%o, 0)\n  results %y\n  gradients none, none");
  };
  CHECK(wrong_numbers(of("native_layer_norm(%x, [3], %w, none, 0)"), given,
                      {-a, 0, a, -a, 0, a, -a, 0, a}) == "");
  const double r = std::sqrt(3 / 14.0);
  CHECK(wrong_numbers(of("_fused_rms_norm(%x, [3], %w, 0)"), given,
                      {r, 2 * r, 3 * r, r, 2 * r, 3 * r, r, 2 * r, 3 * r}) == "");
}

TEST_CASE("gradients of deviations and norms of tiny and of huge rows", "[codegen][cpu]") {
  const auto gradient = [](const std::string& call, const Numbers& row) {
    const Graph forward = graph_of("  %x = parameter f32[3, 3]\n  %y = " + call + "\n  results %y");
    auto joint = differentiate(forward);
    REQUIRE(joint.ok());
    joint->results.clear();
    return wrong_numbers(*joint, {{"x", rows(row)}, {"tangents_1", {1, 1, 1}}}, [&] {
      Numbers expected;
      const bool deviation = call.find("std") == 0;
      const double p = call.find(" 3,") != std::string::npos ? 3 : 2;
      const double norm = std::pow(std::pow(3.0, p) + std::pow(4.0, p), 1 / p);
      for (int k = 0; k < 3; ++k)
        for (const double x : row)
          expected.push_back(deviation ? (x - 2) / 2
                                       : std::copysign(std::pow(std::abs(x) / norm, p - 1), x));
      return expected;
    }());
  };
  CHECK(gradient("std.correction(%x, [1], correction=1)", {1, 2, 3}) == "");
  CHECK(gradient("linalg_vector_norm(%x, 2, [1])", {3, 0, -4}) == "");
  CHECK(gradient("linalg_vector_norm(%x, 3, [1])", {3, 0, -4}) == "");
}

}  // namespace
}  // namespace recut::test

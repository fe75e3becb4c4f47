#include <catch2/catch_test_macros.hpp>

#include "tests/eval/one_call.h"

namespace recut::test {
namespace {

using List = std::vector<double>;
TEST_CASE("functions of one real number", "[eval]") {
  struct Row {
    std::string_view name;
    List in;
    List out;
  };
  const double pi = 3.14159265358979;
  const Row rows[] = {
      {"abs", {-2, -0.0, kNan, -kInf}, {2, 0, kNan, kInf}},
      {"neg", {0, 3}, {-0.0, -3}},
      {"sign", {-3, 0, 5, kNan}, {-1, 0, 1, 0}},
      {"relu", {-1, 2, kNan, -kInf}, {0, 2, kNan, 0}},
      {"floor", {-1.5, 1.5, kInf}, {-2, 1, kInf}},
      {"ceil", {-1.5, 1.5}, {-1, 2}},
      {"trunc", {-1.5, 1.5}, {-1, 1}},
      {"round", {0.5, 1.5, 2.5, -0.5}, {0, 2, 2, -0.0}},
      {"frac", {-1.5, 2.25}, {-0.5, 0.25}},
      {"exp", {0, 1, -kInf, 1000}, {1, 2.718281828, 0, kInf}},
      {"expm1", {1e-10}, {1e-10}},
      {"log", {1, 0, -1, kInf}, {0, -kInf, kNan, kInf}},
      {"log1p", {1e-10, -1}, {1e-10, -kInf}},
      {"sqrt", {4, -1, -0.0}, {2, kNan, -0.0}},
      {"rsqrt", {4, 0}, {0.5, kInf}},
      {"reciprocal", {4, -0.0}, {0.25, -kInf}},
      {"sigmoid", {0, -kInf, 100}, {0.5, 0, 1}},
      {"sinc", {0, 0.5}, {1, 2 / pi}},
      {"logit", {0.5, 0, 1, 2}, {0, -kInf, kInf, kNan}},
      {"angle", {-2, 0, 3, kNan}, {pi, 0, 0, kNan}},
      {"rad2deg", {pi}, {180}},
      {"nan_to_num", {kNan, kInf, -kInf}, {0, 3.4028234663852886e38, -3.4028234663852886e38}},
      {"gelu", {0, 1, -1}, {0, 0.841344746, -0.158655254}},
      {"silu", {0, 1}, {0, 0.731058579}},
      {"mish", {1}, {0.865098388}},
      {"softplus", {0, 100}, {0.693147181, 100}},
      {"elu", {-1, 2}, {-0.632120559, 2}},
      {"selu", {-1, 1}, {-1.11133074, 1.05070099}},
      {"leaky_relu", {-1, 2}, {-0.01, 2}},
      {"hardtanh", {-3, 0.5, 3, kNan}, {-1, 0.5, 1, kNan}},
      {"hardsigmoid", {-4, 0, 4}, {0, 0.5, 1}},
      {"hardswish", {-4, 1, 4}, {-0.0, 2.0 / 3, 4}},
      {"softshrink", {-1, 0.25, 1, kNan}, {-0.5, 0, 0.5, kNan}},
      {"hardshrink", {-1, 0.25, kNan}, {-1, 0, kNan}},
      {"log_sigmoid", {0, -1000}, {-0.693147181, -1000}},
      {"isnan", {kNan, 1}, {1, 0}},
      {"isinf", {-kInf, kNan}, {1, 0}},
      {"isfinite", {kInf, 1}, {0, 1}},
      {"signbit", {-0.0, 0}, {1, 0}},
      {"logical_not", {0, 2, kNan}, {1, 0, 0}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    OneCall c;
    CHECK(close(c.run(row.name, {{"self", c.reals(row.in)}}), row.out));
  }
}

TEST_CASE("functions of two real numbers", "[eval]") {
  struct Row {
    std::string_view name;
    List a, b;
    List out;
  };
  const Row rows[] = {
      {"add.Tensor", {1, kInf}, {2, -kInf}, {3, kNan}},
      {"div.Tensor", {1, -1, 0}, {0, 0, 0}, {kInf, -kInf, kNan}},
      {"floor_divide", {7, -7, 7, 1, 0}, {2, 2, -2, 0, -3}, {3, -4, -4, kInf, -0.0}},
      {"remainder.Tensor", {7, -7, 7, -7, 1}, {3, 3, -3, -3, 0}, {1, 2, -2, -1, kNan}},
      {"fmod.Tensor", {7, -7, 7, -7}, {3, 3, -3, -3}, {1, -1, 1, -1}},
      {"maximum", {1, kNan, 1}, {2, 1, kNan}, {2, kNan, kNan}},
      {"minimum", {1, kNan, 1}, {2, 1, kNan}, {1, kNan, kNan}},
      {"fmax", {1, kNan, kNan}, {2, 1, kNan}, {2, 1, kNan}},
      {"fmin", {1, kNan, 1}, {2, 1, kNan}, {1, 1, 1}},
      {"pow.Tensor_Tensor", {-8, 0, 2, -2}, {1.0 / 3, 0, -1, 3}, {kNan, 1, 0.5, -8}},
      {"atan2", {0, 1, -0.0}, {-1, 0, -1}, {3.14159265, 1.57079633, -3.14159265}},
      {"hypot", {3, kInf}, {4, kNan}, {5, kInf}},
      {"copysign.Tensor", {1, -2}, {-0.0, 3}, {-1, 2}},
      {"nextafter", {0, 1, 1}, {1, 2, 0}, {1.401298464e-45, 1 + 0x1p-23, 1 - 0x1p-24}},
      {"heaviside", {-1, 0, 1, kNan}, {9, 9, 9, 9}, {0, 9, 1, 0}},
      {"xlogy.Tensor", {0, 0, 2}, {0, kNan, 1}, {0, kNan, 0}},
      {"logaddexp", {0, -kInf, kInf}, {0, -kInf, 1}, {0.693147181, -kInf, kInf}},
      {"eq.Tensor", {1, kNan, 0}, {1, kNan, -0.0}, {1, 0, 1}},
      {"ne.Tensor", {1, kNan}, {1, kNan}, {0, 1}},
      {"le.Tensor", {1, 2, kNan}, {1, 1, 1}, {1, 0, 0}},
      {"logical_xor", {0, 1, 2}, {3, 0, 2}, {1, 1, 0}},
      {"isclose", {1, kInf, kNan}, {1.000001, kInf, kNan}, {1, 1, 0}},
      {"ldexp.Tensor", {3}, {2}, {12}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    OneCall c;
    const bool power = row.name.starts_with("pow");
    const bool step = row.name == "heaviside";
    const std::string second = power ? "exponent" : (step ? "values" : "other");
    CHECK(close(c.run(row.name, {{"self", c.reals(row.a)}, {second, c.reals(row.b)}}), row.out));
  }
}

TEST_CASE("arithmetic with numbers, and of three", "[eval]") {
  OneCall c;
  const Argument x = c.reals({-2, 0.25, kNan});
  CHECK(close(c.run("add.Scalar", {{"self", x}, {"other", 1}, {"alpha", 2}}), {0, 2.25, kNan}));
  CHECK(close(c.run("rsub.Scalar", {{"self", x}, {"other", 1}}), {3, 0.75, kNan}));
  CHECK(close(c.run("pow.Tensor_Scalar", {{"self", x}, {"exponent", 0.5}}), {kNan, 0.5, kNan}));
  CHECK(close(c.run("pow.Scalar", {{"self", 2}, {"exponent", x}}), {0.25, 1.18920712, kNan}));
  CHECK(close(c.run("clamp", {{"self", x}, {"min", -1}, {"max", 0}}), {-1, 0, kNan}));
  CHECK(close(c.run("clamp", {{"self", x}, {"min", 3}, {"max", 0}}), {0, 0, kNan}));
  CHECK(close(c.run("threshold", {{"self", x}, {"threshold", 0.25}, {"value", 7}}), {7, 7, kNan}));
  const Argument y = c.reals({1, 2, 3});
  CHECK(close(c.run("addcmul", {{"self", y}, {"tensor1", y}, {"tensor2", y}, {"value", 2}}),
              {3, 10, 21}));
  CHECK(close(c.run("addcdiv", {{"self", y}, {"tensor1", y}, {"tensor2", y}}), {2, 3, 4}));
  CHECK(close(c.run("prims.fma", {{"self", y}, {"other", y}, {"addend", x}}), {-1, 4.25, kNan}));
  CHECK(close(c.run("lerp.Scalar", {{"self", y}, {"end", c.reals({3, 2, 1})}, {"weight", 1.0}}),
              {3, 2, 1}));
  CHECK(close(c.run("round.decimals", {{"self", c.reals({1234.567})}, {"decimals", -2}}), {1200}));
  CHECK(close(c.run("round.decimals", {{"self", c.reals({2.345})}, {"decimals", 2}}), {2.34}));
}

TEST_CASE("numbers taken apart", "[eval]") {
  OneCall c;
  const Argument x = c.reals({3, -0.5, 0, kInf, kNan});
  CHECK(close(c.run("frexp.Tensor", {{"self", x}}, 0), {0.75, -0.5, 0, kInf, kNan}));
  CHECK(close(c.run("frexp.Tensor", {{"self", x}}, 1), {2, 0, 0, 0, 0}));
}

TEST_CASE("integers wrap around, round down and never trap", "[eval]") {
  OneCall c;
  const double least = -9223372036854775808.0;
  const Argument a = c.integers({7, -7, least, 0});
  const Argument b = c.integers({2, 2, -1, -1});
  const auto two = [&](std::string_view name) { return c.run(name, {{"self", a}, {"other", b}}); };
  CHECK(close(two("floor_divide"), {3, -4, least, 0}));
  CHECK(close(two("remainder.Tensor"), {1, 1, 0, 0}));
  CHECK(close(two("fmod.Tensor"), {1, -1, 0, 0}));
  CHECK(close(two("mul.Tensor"), {14, -14, least, 0}));
  CHECK(close(two("gcd"), {1, 1, 1, 1}));
  CHECK(close(two("bitwise_and.Tensor"), {2, 0, least, 0}));
  CHECK(close(two("bitwise_left_shift.Tensor"), {28, -28, 0, 0}));
  CHECK(close(two("bitwise_right_shift.Tensor"), {1, -2, -1, 0}));
  CHECK(close(c.run("neg", {{"self", a}}), {-7, 7, least, 0}));
  CHECK(close(c.run("abs", {{"self", a}}), {7, 7, least, 0}));
  CHECK(close(c.run("pow.Tensor_Tensor", {{"self", b}, {"exponent", c.integers({10, -1, -3, 0})}}),
              {1024, 0, -1, 1}));
  const Argument u = c.tensor(DType::u8, {3}, {0, 200, 255});
  CHECK(close(c.run("add.Scalar", {{"self", u}, {"other", 100}}), {100, 44, 99}));
  CHECK(close(c.run("neg", {{"self", u}}), {0, 56, 1}));
  CHECK(close(c.run("bitwise_not", {{"self", u}}), {255, 55, 0}));
  const Argument p = c.tensor(DType::boolean, {2}, {0, 1});
  CHECK(close(c.run("add.Tensor", {{"self", p}, {"other", p}}), {0, 1}));
  CHECK(close(c.run("bitwise_not", {{"self", p}}), {1, 0}));
  const auto zero = c.builder.call("remainder.Scalar", {{"self", a}, {"other", 0}});
  CHECK(c.error_text(*zero).find("divided by zero") != std::string::npos);
}

TEST_CASE("operands are cast to the dtype of the computation first", "[eval]") {
  OneCall c;
  const Argument tenth = c.reals({0.1});
  const Argument half_tenth = c.tensor(DType::f16, {1}, {0.1});
  // 0.1 as f32 is above 0.1, but the number becomes f32 too.
  CHECK(close(c.run("gt.Scalar", {{"self", tenth}, {"other", 0.1}}), {0}));
  CHECK(close(c.run("eq.Scalar", {{"self", half_tenth}, {"other", 0.1}}), {1}));
  // Arithmetic on halves takes a number as f32 and rounds once.
  const Argument thousand = c.tensor(DType::f16, {1}, {1000});
  CHECK(close(c.run("mul.Scalar", {{"self", thousand}, {"other", 0.1}}), {100}));
  CHECK(close(c.run("mul.Tensor", {{"self", thousand}, {"other", half_tenth}}), {100}));
  // A zero-dimensional f64 tensor joins as f32; integers divide as floats.
  const Argument third = c.tensor(DType::f64, {}, {1.0 / 3});
  CHECK(close(c.run("mul.Tensor", {{"self", c.reals({3})}, {"other", third}}), {1}, 0));
  CHECK(
      close(c.run("div.Tensor", {{"self", c.integers({1})}, {"other", c.integers({4})}}), {0.25}));
  CHECK(close(c.run("prims.convert_element_type",
                    {{"a", c.reals({-1.7, 300, kNan})}, {"dtype", DType::u8}}),
              {255, 44, 0}));
  CHECK(close(c.run("_to_copy", {{"self", c.reals({0, -0.0, kNan})}, {"dtype", DType::boolean}}),
              {0, 0, 1}));
}

TEST_CASE("operands broadcast", "[eval]") {
  OneCall c;
  const Argument column = c.tensor(f32, {2, 1}, {10, 20});
  const Argument row = c.tensor(f32, {3}, {1, 2, 3});
  const Argument flag = c.tensor(DType::boolean, {2, 1}, {1, 0});
  CHECK(close(c.run("add.Tensor", {{"self", column}, {"other", row}}), {11, 12, 13, 21, 22, 23}));
  CHECK(close(c.run("where.self", {{"condition", flag}, {"self", row}, {"other", column}}),
              {1, 2, 3, 20, 20, 20}));
  CHECK(close(c.run("copy", {{"self", c.tensor(f32, {2, 3}, List(6))}, {"src", column}}),
              {10, 10, 10, 20, 20, 20}));
  CHECK(c.run("add.Tensor", {{"self", c.tensor(f32, {0, 1}, {})}, {"other", row}}).empty());
}

// A gradient is the slope: compared with a central difference of its function.
TEST_CASE("activations' gradients are their slopes", "[eval]") {
  struct Row {
    std::string_view function, gradient;
    Named more;
  };
  const Row rows[] = {
      {"gelu", "gelu_backward", {}},
      {"gelu", "gelu_backward", {{"approximate", "tanh"}}},
      {"silu", "silu_backward", {}},
      {"mish", "mish_backward", {}},
      {"hardswish", "hardswish_backward", {}},
      {"hardsigmoid", "hardsigmoid_backward", {}},
      {"hardtanh", "hardtanh_backward", {{"min_val", -1}, {"max_val", 1}}},
      {"softplus", "softplus_backward", {{"beta", 2}, {"threshold", 3}}},
      {"softshrink", "softshrink_backward", {{"lambd", 0.5}}},
      {"logit", "logit_backward", {}},
      {"leaky_relu", "leaky_relu_backward", {{"negative_slope", 0.1}}},
  };
  for (const Row& row : rows) {
    INFO(row.gradient);
    OneCall c;
    const List at = row.function == "logit" ? List{0.2, 0.7} : List{-4, -2.1, -0.3, 0.4, 1.3, 4.2};
    const auto shape = Shape{static_cast<std::int64_t>(at.size())};
    const auto value = [&](double off) {
      List moved = at;
      for (double& x : moved) x += off;
      Named named = row.more;
      named.emplace_back("self", c.tensor(DType::f64, shape, moved));
      return c.run(row.function, named);
    };
    const List up = value(1e-5);
    const List down = value(-1e-5);
    Named named = row.more;
    named.emplace_back("self", c.tensor(DType::f64, shape, at));
    named.emplace_back("grad_output", c.tensor(DType::f64, shape, List(at.size(), 2)));
    if (row.function == "leaky_relu") named.emplace_back("self_is_result", false);
    const List slope = c.run(row.gradient, named);
    for (std::size_t i = 0; i < at.size(); ++i)
      CHECK(std::abs(slope[i] - (up[i] - down[i]) / 1e-5) < 1e-7);
  }
}

}  // namespace
}  // namespace recut::test

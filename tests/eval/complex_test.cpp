// Complex numbers: arithmetic, functions, parts, reductions and products, in the interpreter.
#include <catch2/catch_test_macros.hpp>

#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "tests/eval/complex_call.h"

namespace recut::test {
namespace {

using Numbers = std::vector<Complex>;

TEST_CASE("complex numbers: sums, products, quotients and powers", "[eval]") {
  const Numbers a = {{1, 2}, {-3, 0.5}, {0, -1}}, b = {{2, -1}, {0, 4}, {0.25, 0.25}};
  ComplexCall c;
  const auto both = [&](std::string_view name) {
    ComplexCall call;
    return call.numbers(name, {{"self", call.complexes(a)}, {"other", call.complexes(b)}});
  };
  CHECK(complex_near(both("add.Tensor"), {{3, 1}, {-3, 4.5}, {0.25, -0.75}}));
  CHECK(complex_near(both("sub.Tensor"), {{-1, 3}, {-3, -3.5}, {-0.25, -1.25}}));
  CHECK(complex_near(both("mul.Tensor"), {{4, 3}, {-2, -12}, {0.25, -0.25}}));
  CHECK(complex_near(both("div.Tensor"), {{0, 1}, {0.125, 0.75}, {-2, -2}}));
  const Numbers scaled =
      c.numbers("add.Tensor", {{"self", c.complexes(a)}, {"other", c.complexes(b)}, {"alpha", 2}});
  CHECK(complex_near(scaled, {{5, 0}, {-3, 8.5}, {0.5, -0.5}}));
  CHECK(complex_near(c.numbers("pow.Tensor_Scalar", {{"self", c.complexes(a)}, {"exponent", 2}}),
                     {{-3, 4}, {8.75, -3}, {-1, 0}}));
  CHECK(complex_near(
      c.numbers("pow.Tensor_Scalar", {{"self", c.complexes({{0, 0}})}, {"exponent", 1.5}}),
      {{0, 0}}));
  CHECK(complex_near(c.numbers("reciprocal", {{"self", c.complexes(b)}}),
                     {{0.4, 0.2}, {0, -0.25}, {2, -2}}));
}

TEST_CASE("complex numbers: a quotient keeps what squares would lose", "[eval]") {
  ComplexCall c;
  const Numbers large = {{1e300, 1e300}};
  CHECK(complex_near(
      c.numbers("div.Tensor", {{"self", c.complexes(large)}, {"other", c.complexes(large)}}),
      {{1, 0}}));
}

TEST_CASE("complex numbers: real operands are promoted", "[eval]") {
  ComplexCall c;
  const Argument z = c.complexes({{1, 2}, {3, 4}}, DType::c64);
  CHECK(c.builder.type("mul.Tensor", {{"self", z}, {"other", c.reals({2, 3})}}) == "c64[2]");
  CHECK(complex_near(c.numbers("mul.Tensor", {{"self", z}, {"other", c.reals({2, 3})}}),
                     {{2, 4}, {9, 12}}));
  CHECK(c.builder.type("add.Tensor", {{"self", z}, {"other", c.tensor(f64, {2}, {1, 1})}}) ==
        "c128[2]");
  // A zero-dimensional operand doesn't widen one with dimensions.
  const Argument number = c.complexes(Shape{}, {{0, 1}}, DType::c128);
  CHECK(c.builder.type("mul.Tensor", {{"self", c.reals({1, 2})}, {"other", number}}) == "c64[2]");
  CHECK(complex_near(c.numbers("mul.Tensor", {{"self", c.reals({1, 2})}, {"other", number}}),
                     {{0, 1}, {0, 2}}));
}

TEST_CASE("complex numbers: functions agree with their definitions", "[eval]") {
  const Numbers zs = {{0.5, -0.25}, {-1.5, 0.75}, {0.1, 2}};
  using F = Complex (*)(Complex);
  const std::pair<std::string_view, F> rows[] = {
      {"exp",
       [](Complex z) {
         return std::exp(z.real()) * Complex(std::cos(z.imag()), std::sin(z.imag()));
       }},
      {"log",
       [](Complex z) { return Complex(std::log(std::abs(z)), std::atan2(z.imag(), z.real())); }},
      {"sqrt", [](Complex z) { return std::polar(std::sqrt(std::abs(z)), std::arg(z) / 2); }},
      {"rsqrt", [](Complex z) { return std::polar(1 / std::sqrt(std::abs(z)), -std::arg(z) / 2); }},
      {"sinh", [](Complex z) { return (std::exp(z) - std::exp(-z)) / 2.0; }},
      {"cosh", [](Complex z) { return (std::exp(z) + std::exp(-z)) / 2.0; }},
      {"tanh", [](Complex z) { return 1.0 - 2.0 / (std::exp(2.0 * z) + 1.0); }},
      {"sigmoid", [](Complex z) { return 1.0 / (1.0 + std::exp(-z)); }},
      {"silu", [](Complex z) { return z / (1.0 + std::exp(-z)); }},
      {"expm1", [](Complex z) { return std::exp(z) - 1.0; }},
      {"log1p", [](Complex z) { return std::log(1.0 + z); }},
      {"sinc",
       [](Complex z) {
         return std::sin(3.14159265358979323846 * z) / (3.14159265358979323846 * z);
       }},
      {"sgn", [](Complex z) { return z / std::hypot(z.real(), z.imag()); }},
      {"square", [](Complex z) { return z * z; }},
      {"neg", [](Complex z) { return Complex(-z.real(), -z.imag()); }},
      {"_conj_physical", [](Complex z) { return Complex(z.real(), -z.imag()); }},
  };
  for (const auto& [name, f] : rows) {
    INFO(name);
    Numbers expected;
    for (const Complex z : zs) expected.push_back(f(z));
    ComplexCall c;
    CHECK(complex_near(c.numbers(name, {{"self", c.complexes(zs)}}), expected, 1e-12));
  }
}

// Near 0 the sum with 1 would lose these numbers; at 0 a quotient has no value.
TEST_CASE("complex numbers: functions near 0", "[eval]") {
  ComplexCall c;
  const Numbers small = {{1e-20, -2e-20}, {0, 1e-18}, {-0.0, 0.0}};
  CHECK(complex_near(c.numbers("expm1", {{"self", c.complexes(small)}}), small, 1e-15));
  CHECK(complex_near(c.numbers("log1p", {{"self", c.complexes(small)}}), small, 1e-15));
  CHECK(complex_near(c.numbers("sinc", {{"self", c.complexes(Numbers{{0, 0}})}}), {{1, 0}}));
}

TEST_CASE("complex numbers: powers in double, and gradients by results", "[eval]") {
  ComplexCall c;
  const Numbers zs = {{0.5, -0.25}, {-1.5, 0.75}}, gs = {{1, 2}, {0, -1}};
  const Named power = {{"self", c.complexes({2}, zs, DType::c64)}, {"exponent", 1.3}};
  CHECK(c.builder.type("float_power.Tensor_Scalar", power) == "c128[2]");
  CHECK(complex_near(c.numbers("float_power.Tensor_Scalar", power),
                     {std::pow(zs[0], 1.3), std::pow(zs[1], 1.3)}, 1e-12));
  const Named back = {{"grad_output", c.complexes(gs)}, {"output", c.complexes(zs)}};
  Numbers sigmoid, tanh;
  for (std::size_t i = 0; i < zs.size(); ++i) {
    sigmoid.push_back(gs[i] * std::conj(zs[i] * (1.0 - zs[i])));
    tanh.push_back(gs[i] * std::conj(1.0 - zs[i] * zs[i]));
  }
  CHECK(complex_near(c.numbers("sigmoid_backward", back), sigmoid, 1e-12));
  CHECK(complex_near(c.numbers("tanh_backward", back), tanh, 1e-12));
}

TEST_CASE("complex numbers: magnitude and angle are real", "[eval]") {
  ComplexCall c;
  const Argument z = c.complexes({{3, -4}, {0, 2}, {-1, 0}}, DType::c64);
  CHECK(c.builder.type("abs", {{"self", z}}) == "f32[3]");
  CHECK(close(c.run("abs", {{"self", z}}), {5, 2, 1}));
  CHECK(close(c.run("angle", {{"self", z}}), {-0.927295218, 1.570796327, 3.141592654}));
}

TEST_CASE("complex numbers: comparisons and selections", "[eval]") {
  ComplexCall c;
  const Argument a = c.complexes({{1, 2}, {1, 3}}), b = c.complexes({{1, 2}, {1, 2}});
  CHECK(c.run("eq.Tensor", {{"self", a}, {"other", b}}) == std::vector<double>{1, 0});
  CHECK(c.run("ne.Tensor", {{"self", a}, {"other", b}}) == std::vector<double>{0, 1});
  const Argument chosen = c.tensor(DType::boolean, {2}, {0, 1});
  CHECK(complex_near(c.numbers("where.self", {{"condition", chosen}, {"self", a}, {"other", b}}),
                     {{1, 2}, {1, 3}}));
}

TEST_CASE("complex numbers: parts and back", "[eval]") {
  ComplexCall c;
  const Argument z = c.complexes({2}, {{1, 2}, {3, 4}}, DType::c64);
  CHECK(c.builder.type("view_as_real", {{"self", z}}) == "f32[2, 2]");
  CHECK(c.run("view_as_real", {{"self", z}}) == std::vector<double>{1, 2, 3, 4});
  const Argument pairs = c.tensor(f64, {2, 2}, {1, 2, 3, 4});
  CHECK(complex_near(c.numbers("view_as_complex", {{"self", pairs}}), {{1, 2}, {3, 4}}));
  CHECK(complex_near(c.numbers("complex", {{"real", c.reals({1, 2})}, {"imag", c.reals({3, 4})}}),
                     {{1, 3}, {2, 4}}));
  CHECK(complex_near(c.numbers("polar", {{"abs", c.tensor(f64, {2}, {2, 1})},
                                         {"angle", c.tensor(f64, {2}, {0, 1.5707963267948966})}}),
                     {{2, 0}, {0, 1}}));
}

TEST_CASE("complex numbers: sums, means, variances and products of elements", "[eval]") {
  ComplexCall c;
  const Argument z = c.complexes({2, 2}, {{1, 1}, {2, -1}, {0, 3}, {1, 0}});
  CHECK(complex_near(c.numbers("sum", {{"self", z}}), {{4, 3}}));
  CHECK(complex_near(c.numbers("mean", {{"self", z}}), {{1, 0.75}}));
  CHECK(complex_near(c.numbers("sum.dim_IntList", {{"self", z}, {"dim", ints({0})}}),
                     {{1, 4}, {3, -1}}));
  CHECK(complex_near(c.numbers("prod", {{"self", z}}), {{-3, 9}}));
  CHECK(complex_near(c.numbers("cumsum", {{"self", z}, {"dim", 1}}),
                     {{1, 1}, {3, 0}, {0, 3}, {1, 3}}));
  // The real and the imaginary parts' variances together.
  CHECK(c.builder.type("var.correction", {{"self", z}}) == "f64[]");
  CHECK(close(c.run("var.correction", {{"self", z}}), {(2 + 8.75) / 3}));
}

TEST_CASE("complex numbers: matrix products", "[eval]") {
  ComplexCall c;
  const Argument a = c.complexes({2, 2}, {{1, 1}, {0, 2}, {3, 0}, {-1, 1}});
  const Argument b = c.complexes({2, 1}, {{2, 0}, {1, -1}});
  CHECK(complex_near(c.numbers("mm", {{"self", a}, {"mat2", b}}), {{4, 4}, {6, 2}}));
  const Argument v = c.complexes({{1, 2}, {0, 1}}), w = c.complexes({{3, -1}, {2, 0}});
  CHECK(complex_near(c.numbers("dot", {{"self", v}, {"tensor", w}}), {{5, 7}}));
  CHECK(complex_near(c.numbers("vdot", {{"self", v}, {"other", w}}), {{1, -9}}));
}

TEST_CASE("complex numbers: casts, fills and movements", "[eval]") {
  ComplexCall c;
  const Argument z = c.complexes({{1.5, 2}, {-3, 4}});
  CHECK(c.run("prims.convert_element_type", {{"a", z}, {"dtype", f32}}) ==
        std::vector<double>{1.5, -3});
  CHECK(complex_near(
      c.numbers("prims.convert_element_type", {{"a", c.reals({2})}, {"dtype", DType::c64}}),
      {{2, 0}}));
  CHECK(complex_near(c.numbers("full_like", {{"self", z}, {"fill_value", 2.5}}),
                     {{2.5, 0}, {2.5, 0}}));
  CHECK(complex_near(c.numbers("flip", {{"self", z}, {"dims", ints({0})}}), {{-3, 4}, {1.5, 2}}));
  CHECK(
      complex_near(c.numbers("constant_pad_nd", {{"self", z}, {"pad", ints({1, 0})}, {"value", 0}}),
                   {{0, 0}, {1.5, 2}, {-3, 4}}));
  const Argument parts = ArgumentList{z, z};
  CHECK(
      complex_near(c.numbers("cat", {{"tensors", parts}}), {{1.5, 2}, {-3, 4}, {1.5, 2}, {-3, 4}}));
}

Result<Evaluation> evaluated(const std::string& lines) {
  const auto graph = parse_graph_text("graph \"t\" {\n" + lines + "\n}\n", "t");
  if (!graph) return graph.diagnostics();
  const auto inputs = inputs_from(*graph, {}, 1);
  if (!inputs) return inputs.diagnostics();
  return evaluate(*graph, *inputs);
}

std::string refusal(const std::string& lines) {
  const auto made = evaluated(lines);
  REQUIRE_FALSE(made.ok());
  return made.diagnostics().front().message;
}

TEST_CASE("complex numbers: what the interpreter can't evaluate is named", "[eval]") {
  CHECK(refusal("%x = input c64[3]\n%y = cumprod(%x, 0) : c64[3]\n%z = floor(%y) : c64[3]\n"
                "results %z") == "node 'z': operator 'floor' can't be evaluated in c64 yet");
}

// Readers leave such types to the file, so that the interpreter has to check them.
TEST_CASE("complex numbers: a recorded type that the operator doesn't give is refused", "[eval]") {
  CHECK(refusal("%x = input c64[3]\n%y = exp(%x) : c64[300]\nresults %y") ==
        "node 'y': it is recorded as c64[300], expected c64[3]");
  CHECK(refusal("%x = input c64[3]\n%y = view_as_real(%x) : f64[3, 2]\nresults %y") ==
        "node 'y': it is recorded as f64[3, 2], expected f32[3, 2]");
}

TEST_CASE("complex numbers: random inputs have two parts, and keep their layout", "[eval]") {
  const TensorType type{DType::c64, {2, 3}, {1, 2}, {}};
  const Tensor tensor = random_tensor(type, 7, "x");
  CHECK(tensor.strides == type.strides);
  CHECK(tensor.storage->size() == 48);
  const Complexes values = unpack<Complex>(tensor);
  for (const Complex z : values.data) {
    CHECK((z.real() != 0 && z.imag() != 0 && z.real() != z.imag()));
    CHECK((std::abs(z.real()) <= 1 && std::abs(z.imag()) <= 1));
  }
}

TEST_CASE("complex numbers: comparison looks at both parts", "[eval]") {
  ComplexCall c;
  const auto tensor = [&](const Numbers& values) {
    return c.inputs.at(*c.complexes(values, DType::c64).get<NodeId>());
  };
  const Tensor expected = tensor({{1, 2}, {3, 4}});
  CHECK(compare(tensor({{1, 2}, {3, 4}}), expected).ok);
  const Comparison wrong = compare(tensor({{1, 2}, {3, -4}}), expected);
  CHECK_FALSE(wrong.ok);
  REQUIRE(wrong.worst.has_value());
  CHECK(wrong.worst->index == 1);
  CHECK(wrong.elements == 2);
}

}  // namespace
}  // namespace recut::test

#include "engine/eval/double_graph.h"

#include <cmath>

#include "tests/eval/run_text.h"

namespace recut {
namespace {

using test::input_tensor;
using test::InputValues;
using test::Values;
using test::values_of;

Graph read(const std::string& lines) {
  auto graph = parse_graph_text("graph \"test\" {\n" + lines + "\n}", "test");
  INFO((graph ? std::string() : format(graph.diagnostics())));
  REQUIRE(graph.ok());
  return std::move(*graph);
}

Inputs inputs_of(const Graph& graph, const InputValues& given) {
  Inputs inputs;
  for (const NodeId id : graph.inputs()) {
    const auto values = given.find(graph.node_name(id));
    inputs[id] = input_tensor(graph.type(id), values == given.end() ? nullptr : &values->second);
  }
  return inputs;
}

struct Both {
  std::vector<Tensor> narrow, wide;
};

// The graph as it is, and in f64.
Both evaluate_both(const std::string& lines, const InputValues& given = {}) {
  const Graph graph = read(lines);
  const Inputs inputs = inputs_of(graph, given);
  auto narrow = evaluate(graph, inputs);
  REQUIRE(narrow.ok());
  const DoubleGraph wider(graph);
  auto wide = evaluate(wider.graph(), wider.inputs(inputs));
  INFO((wide ? std::string() : format(wide.diagnostics())));
  REQUIRE(wide.ok());
  return {std::move(narrow->outputs), std::move(wide->outputs)};
}

TEST_CASE("in f64 nothing is rounded between calls") {
  // 1 + x - 1 is x, and 1e30² · 1e-30² is 1.
  const std::string lines =
      "%x = input f32[1]\n%a = add.Tensor(%x, 1.0)\n%b = sub.Tensor(%a, 1.0)\n"
      "%y = input f32[1]\n%c = mul.Tensor(%y, %y)\n%d = div.Tensor(%c, %y)\n%e = div.Tensor(%d, "
      "%y)\n"
      "results %b, %e";
  const Both both = evaluate_both(lines, {{"x", {std::ldexp(1.0, -30)}}, {"y", {1e30}}});
  CHECK(values_of(both.narrow[0]) == Values{0});
  CHECK(values_of(both.wide[0]) == Values{std::ldexp(1.0, -30)});
  CHECK(std::isinf(values_of(both.narrow[1])[0]));
  CHECK(values_of(both.wide[1]) == Values{1});
  CHECK(both.wide[0].dtype == DType::f64);
}

TEST_CASE("in f64 named dtypes are wide, and 16 bits and integers stay as they are") {
  const Both both = evaluate_both(
      "%x = input f32[3]\n%h = prims.convert_element_type(%x, bf16)\n"
      "%w = prims.convert_element_type(%h, f32)\n%i = prims.convert_element_type(%x, i64)\n"
      "%f = full([2], 0.1, dtype=f32)\n%m = max.dim(%x, 0)\n%v = getitem(%m, 0)\n%at = getitem(%m, "
      "1)\n"
      "results %h, %w, %i, %f, %v, %at",
      {{"x", {1.001, -2.5, 3.75}}});
  REQUIRE(both.wide.size() == 6);
  const DType expected[] = {DType::bf16, DType::f64, DType::i64,
                            DType::f64,  DType::f64, DType::i64};
  for (std::size_t i = 0; i < 6; ++i) CHECK(both.wide[i].dtype == expected[i]);
  CHECK(values_of(both.wide[0]) == values_of(both.narrow[0]));
  CHECK(values_of(both.wide[1]) == values_of(both.narrow[1]));
  CHECK(values_of(both.wide[3]) == Values{0.1, 0.1});
}

TEST_CASE("in f64 the draws are those of f32, and bits are read from f32") {
  const Both both = evaluate_both(
      "%x = input f32[64]\n%r = rand([64], dtype=f32)\n%n = normal_functional(%x)\n"
      "%d = native_dropout(%x, 0.5, true)\n%a = getitem(%d, 0)\n%k = getitem(%d, 1)\n"
      "%b = view.dtype(%x, i32)\n%s = add.Tensor(%r, %n)\nresults %r, %n, %a, %k, %b, %s");
  for (std::size_t i = 0; i < 5; ++i) {
    INFO(i);
    CHECK(values_of(both.wide[i]) == values_of(both.narrow[i]));
  }
  CHECK(both.wide[0].dtype == DType::f64);
  CHECK(both.wide[2].dtype == DType::f64);
  CHECK(both.wide[4].dtype == DType::i32);
  CHECK(both.wide[5].dtype == DType::f64);
}

TEST_CASE(
    "in f64 shapes that depend on values are those of the file, strides those of the inputs") {
  const Both both = evaluate_both(
      "%x = input f32[2, 3]{1, 2}\n%m = gt.Scalar(%x, 2)\n%i = nonzero(%m) : i64[3, 2]\n"
      "%s = as_strided(%x, [2], [1], 1)\nresults %i, %s");
  CHECK(values_of(both.wide[0]) == Values{1, 0, 1, 1, 1, 2});
  CHECK(values_of(both.wide[1]) == values_of(both.narrow[1]));
}

}  // namespace
}  // namespace recut

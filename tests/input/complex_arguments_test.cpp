// Complex numbers as arguments of calls, in each kind of file: by the values that they come to.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <complex>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/tensor.h"
#include "engine/input/exported_program.h"
#include "engine/input/graph_file_reader.h"
#include "tests/input/call_lines.h"

namespace recut {
namespace {

using ComplexList = std::vector<Complex>;

// The only result, for an input of the numbers 1, 2, … of this file.
struct ComplexResult {
  DType dtype = DType::none;
  ComplexList numbers;
};

ComplexResult evaluated_file(const Result<GraphFile>& file) {
  if (!file) FAIL(format(file.diagnostics()));
  const Graph& graph = file->graph;
  INFO(print(graph));
  REQUIRE(verify(graph).empty());
  Inputs inputs;
  for (const NodeId id : graph.inputs()) {
    Reals ascending(graph.type(id).shape);
    for (std::int64_t i = 0; i < ascending.count(); ++i) ascending[i] = static_cast<double>(i + 1);
    Tensor tensor = allocate(graph.type(id), nullptr);
    pack(ascending, tensor);
    inputs[id] = tensor;
  }
  const auto run = evaluate(graph, inputs);
  if (!run) FAIL(format(run.diagnostics()));
  const Tensor& out = run->outputs.front();
  ComplexResult found{out.dtype, {}};
  const auto numbers = unpack<std::complex<double>>(out);
  for (std::int64_t i = 0; i < numbers.count(); ++i) found.numbers.push_back(numbers[i]);
  return found;
}

// An input x[2] of this dtype, and the result y of one call.
Result<GraphFile> file_of_call(const std::string& call, const std::string& dtype = "float32") {
  return parse_joint_graph(
      fmt::format(
          R"({{"format": "fx-joint-graph", "version": 1, "model": "m", "forward": [
  {{"name": "x", "op": "placeholder", "target": "x", "val": {{"dtype": "{}", "shape": [2]}}}}, {},
  {{"name": "output", "op": "output", "target": "output", "args": [[{{"node": "y"}}]]}}]}})",
          dtype, call_json("y = " + call)),
      "m.json");
}

void check_call(const std::string& call, const ComplexList& expected, DType dtype = DType::c64,
                const std::string& input = "float32") {
  INFO(call << " of " << input);
  const ComplexResult found = evaluated_file(file_of_call(call, input));
  CHECK(short_name(found.dtype) == short_name(dtype));
  REQUIRE(found.numbers.size() == expected.size());
  const double bound = dtype == DType::c128 ? 1e-14 : 1e-6;
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(found.numbers[i] - expected[i]) <= bound * std::abs(expected[i]));
}

TEST_CASE("complex arguments: a tensor's place takes one") {
  const std::string i = R"({"complex": [0.1, 1]})";
  check_call("aten.mul.Tensor(x, " + i + ")", {{0.1, 1}, {0.2, 2}});
  check_call("aten.mul.Tensor(x, " + i + ")", {{0.1, 1}, {0.2, 2}}, DType::c128, "float64");
  check_call("aten.mul.Tensor(x, " + i + ")", {{0.1, 1}, {0.2, 2}}, DType::c64, "bfloat16");
  check_call("aten.mul.Tensor(x, " + i + ")", {{0.1, 1}, {0.2, 2}}, DType::c64, "int64");
  check_call("aten.mul.Tensor(x, " + i + ")", {{0.1, 1}, {0.2, 2}}, DType::c128, "complex128");
  check_call("aten.add.Tensor(x, " + i + ")", {{1.1, 1}, {2.1, 1}});
  check_call("aten.add.Tensor(x, " + i + ", alpha=2)", {{1.2, 2}, {2.2, 2}});
  check_call("aten.add.Tensor(x, x, alpha=" + i + ")", {{1.1, 1}, {2.2, 2}});
  check_call("aten.sub.Tensor(x, " + i + ", alpha=" + i + ")", {{1.99, -0.2}, {2.99, -0.2}});
  check_call("aten.mul_.Tensor(x, " + i + ")", {{0.1, 1}, {0.2, 2}}, DType::c64, "complex64");
}

TEST_CASE("complex arguments: a number's place takes one by another operator") {
  const std::string i = R"({"complex": [0, 1.0]})";
  check_call("aten.mul.Scalar(x, " + i + ")", {{0, 1}, {0, 2}});
  check_call("aten.multiply.Scalar(x, " + i + ")", {{0, 1}, {0, 2}});
  check_call("aten.div.Scalar(x, " + i + ")", {{0, -1}, {0, -2}});
  check_call("aten.add.Scalar(x, " + i + ", 2)", {{1, 2}, {2, 2}});
  check_call("aten.sub.Scalar(x, " + i + ")", {{1, -1}, {2, -1}});
  check_call("aten.rsub.Scalar(x, " + i + ", 3)", {{-3, 1}, {-6, 1}});
  check_call("aten.pow.Tensor_Scalar(x, " + i + ")",
             {{1, 0}, {std::cos(std::log(2.0)), std::sin(std::log(2.0))}});
  check_call("aten.pow.Scalar(" + i + ", x)", {{0, 1}, {-1, 0}}, DType::c128, "complex128");
  check_call("aten.fill.Scalar(x, " + i + ")", {{0, 1}, {0, 1}}, DType::c64, "complex64");
  check_call("aten.eq.Scalar(x, " + i + ")", {0, 0}, DType::boolean);
  check_call("aten.addcmul.default(x, x, x, value=" + i + ")", {{1, 1}, {2, 4}});
  check_call("aten.addcdiv.default(x, x, x, value=" + i + ")", {{1, 1}, {2, 1}});
  check_call("aten.full.default([2], " + i + ")", {{0, 1}, {0, 1}});
  check_call(R"(aten.full.default([1], {"complex": [0.1, 2]}, dtype={"dtype": "complex128"}))",
             {{0.1, 2}}, DType::c128);
  check_call("aten.full_like.default(x, " + i + R"(, dtype={"dtype": "complex64"}))",
             {{0, 1}, {0, 1}});
  check_call("aten.new_full.default(x, [1], " + i + ")", {{0, 1}}, DType::c64, "complex64");
  check_call(R"(aten.scalar_tensor.default({"complex": [0.1, 2]}, dtype={"dtype": "complex128"}))",
             {{0.1, 2}}, DType::c128);
}

TEST_CASE("complex arguments: infinities and NaN") {
  const ComplexResult found =
      evaluated_file(file_of_call(R"(aten.full.default([1], {"complex": ["-inf", "nan"]}))"));
  CHECK(found.numbers.front().real() == -HUGE_VAL);
  CHECK(std::isnan(found.numbers.front().imag()));
}

TEST_CASE("complex arguments: a place that takes none, and faulty numbers") {
  const auto fault = [](const std::string& call) {
    const auto file = file_of_call(call);
    return file ? std::string() : format(file.diagnostics());
  };
  CHECK(fault(R"(aten.clamp_min.default(x, {"complex": [0, 1]}))")
            .find("argument 'min' of clamp_min: a complex number found") != std::string::npos);
  CHECK(fault(R"(aten.sum.dim_IntList(x, [{"complex": [0, 1]}]))")
            .find("argument 'dim' of sum.dim_IntList: a complex number found") !=
        std::string::npos);
  CHECK(fault(R"(aten.mul.Tensor(x, {"complex": [1]}))").find("without two parts") !=
        std::string::npos);
  CHECK(fault(R"(aten.mul.Tensor(x, {"complex": [1, "one"]}))").find("expected a number, 'inf'") !=
        std::string::npos);
}

ComplexList printed_factor(const std::string& number) {
  const std::string text = fmt::format(
      R"(class m(torch.nn.Module):
    def forward(self, x: "c128[1][1]cpu"):
        mul: "c128[1][1]cpu" = torch.ops.aten.mul.Tensor(x, {});  x = None
        return (mul,)
)",
      number);
  INFO(text);
  return evaluated_file(read_graph_bytes(text, "net.txt", kDefaultGraphKey, {})).numbers;
}

TEST_CASE("complex arguments: as Python prints them") {
  CHECK(printed_factor("1j") == ComplexList{{0, 1}});
  CHECK(printed_factor("-2.5j") == ComplexList{{0, -2.5}});
  CHECK(printed_factor("1e+20j") == ComplexList{{0, 1e20}});
  CHECK(printed_factor("(1+2j)") == ComplexList{{1, 2}});
  CHECK(printed_factor("(-1.5-2j)") == ComplexList{{-1.5, -2}});
  CHECK(printed_factor("(-0-1j)") == ComplexList{{0, -1}});
  CHECK(printed_factor("complex(1, 2)") == ComplexList{{1, 2}});
  CHECK(printed_factor("complex(-1.5, 2e3)") == ComplexList{{-1.5, 2000}});
  const auto file = read_graph_bytes(
      "class m(torch.nn.Module):\n    def forward(self, x: \"c64[1][1]cpu\"):\n"
      "        mul: \"c64[1][1]cpu\" = torch.ops.aten.mul.Tensor(x, 1+2);  x = None\n"
      "        return (mul,)\n",
      "net.txt", kDefaultGraphKey, {});
  REQUIRE_FALSE(file.ok());
  CHECK(format(file.diagnostics()).find("expected an imaginary number like 2j") !=
        std::string::npos);
}

TEST_CASE("complex arguments: of exported programs") {
  const std::string meta =
      R"({"dtype": 10, "sizes": [{"as_int": 1}], "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "device": {"type": "cpu", "index": null}, "layout": 7, "requires_grad": false})";
  const std::string json = fmt::format(
      R"({{"graph_module": {{"graph": {{"inputs": [{{"as_tensor": {{"name": "x"}}}}],
  "outputs": [{{"as_tensor": {{"name": "y"}}}}],
  "nodes": [{{"target": "torch.ops.aten.add.Tensor", "inputs": [
    {{"name": "self", "arg": {{"as_tensor": {{"name": "x"}}}}, "kind": 1}},
    {{"name": "other", "arg": {{"as_complex": {{"real": 0.5, "imag": -3}}}}, "kind": 1}}],
    "outputs": [{{"as_tensor": {{"name": "y"}}}}], "metadata": {{}}}}],
  "tensor_values": {{"x": {0}, "y": {0}}}, "sym_int_values": {{}}}},
 "signature": {{"input_specs": [{{"user_input": {{"arg": {{"as_tensor": {{"name": "x"}}}}}}}}],
  "output_specs": [{{"user_output": {{"arg": {{"as_tensor": {{"name": "y"}}}}}}}}]}},
 "module_call_graph": []}}, "schema_version": {{"major": 8, "minor": 9}},
 "opset_version": {{"aten": 10}}, "range_constraints": {{}}}})",
      meta);
  const auto program = read_exported_program(json, "p.json", "p");
  if (!program) FAIL(format(program.diagnostics()));
  CHECK(evaluated_file(parse_joint_graph(program->json, "p.json")).numbers ==
        ComplexList{{1.5, -3}});
}

}  // namespace
}  // namespace recut

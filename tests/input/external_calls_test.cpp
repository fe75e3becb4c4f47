// Calls of operators that the table lacks, and values without arithmetic: read, written, planned,
// and refused by name where values, derivatives or code are asked for.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/autodiff/differentiate.h"
#include "engine/codegen/lower/lower.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/text.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/printer.h"
#include "engine/ir/storage_model.h"
#include "engine/ir/verifier.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

constexpr std::string_view kX =
    R"({"name": "x", "op": "placeholder", "target": "x", "val": {"dtype": "float32", "shape": [4]}})";

// A forward graph of x, the nodes, and one result.
Result<GraphFile> forward_of(std::string_view nodes, std::string_view result) {
  return parse_joint_graph(
      fmt::format(R"({{"format": "fx-joint-graph", "version": 1, "model": "net", "forward": [{}, {},
  {{"name": "output", "op": "output", "target": "output", "args": [[{{"node": "{}"}}]]}}]}})",
                  kX, nodes, result),
      "net.json");
}

Result<loop::LoweredKernel> lowered(const Graph& graph, std::string_view name) {
  const std::vector<NodeId> calls{graph.find(name)};
  return loop::lower(graph, StorageModel(graph), FusionGroups(), calls);
}

std::string first_fault(const Diagnostics& diagnostics) { return diagnostics.front().message; }

TEST_CASE("external calls: a custom operator keeps its name, arguments and type") {
  const auto file = forward_of(
      R"({"name": "a", "op": "call_function", "target": "mine.scale3.default",
  "args": [{"node": "x"}, 3, [1, 2.5], null, {"dtype": "float16"}, {"slice": [0, null]}],
  "kwargs": {"mode": "fast", "out": {"dict": {"b": {"node": "x"}}}},
  "val": {"dtype": "float32", "shape": [4, 2]}, "seq_nr": 7},
  {"name": "b", "op": "call_function", "target": "mine.scale3.default", "args": [{"node": "a"}],
  "val": [{"dtype": "float32", "shape": [4]}, null, {"dtype": "int64", "shape": []}]},
  {"name": "y", "op": "call_function", "target": "getitem", "args": [{"node": "b"}, 0]})",
      "y");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(verify(file->graph).empty());
  const std::string text = R"(graph "net" {
  %x = input f32[4]
  %a = external mine.scale3.default(%x, 3, [1, 2.5], none, f16, ["slice", [0, none]], mode="fast", out=["dict", ["b", %x]], draw=0) : f32[4, 2]  #7
  %b = external mine.scale3.default(%a, draw=1) : (f32[4], none, i64[])
  %y = getitem(%b, 0) : f32[4]
  results %y
}
)";
  CHECK(print(file->graph) == text);
  CHECK(print(parse(text)) == text);
  CHECK(file->unknown_note.find("mine.scale3 (2 calls); give") != std::string::npos);
  CHECK(file->graph.op(file->graph.find("a")).name == "mine.scale3");
}

TEST_CASE("external calls: two equal calls are two nodes, also after passes") {
  const Graph graph = parse(R"(graph "g" {
  %x = input f32[4]
  %a = external mine.draw.default(%x) : f32[4]
  %b = external mine.draw.default(%x) : f32[4]
  %y = add.Tensor(%a, %b)
  results %y
}
)");
  CHECK(graph.order().size() == 4);
  const auto report = run_passes(graph, inexact_passes());
  REQUIRE(report.ok());
  CHECK(print(report->graph()).find("external mine.draw.default(%x, draw=1)") != std::string::npos);
}

TEST_CASE("external calls: values, derivatives and loops are refused by name") {
  const Graph graph = parse(R"(graph "g" {
  %x = parameter f32[4]
  %a = external mine.draw.default(%x) : f32[4]
  %b = external mine.other.default(%a) : f32[4]
  results %b
}
)");
  const auto inputs = inputs_from(graph, {}, 1);
  REQUIRE(inputs.ok());
  const auto values = evaluate(graph, *inputs);
  REQUIRE_FALSE(values.ok());
  CHECK(values.diagnostics().size() == 2);
  CHECK(first_fault(values.diagnostics()).find("'mine.draw'") != std::string::npos);

  const auto joint = differentiate(graph);
  REQUIRE_FALSE(joint.ok());
  CHECK(first_fault(joint.diagnostics()).find("mine.") != std::string::npos);

  const auto loops = lowered(graph, "a");
  REQUIRE_FALSE(loops.ok());
  CHECK(first_fault(loops.diagnostics()).find("'mine.draw'") != std::string::npos);
}

TEST_CASE("external calls: a nested graph takes the memory of its temporaries") {
  const std::string region = R"([
    {"name": "p", "op": "placeholder", "target": "p", "val": {"dtype": "float32", "shape": [4]}},
    {"name": "s", "op": "call_function", "target": "aten.exp.default", "args": [{"node": "p"}]},
    {"name": "t", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "s"}]},
    {"name": "u", "op": "call_function", "target": "aten.cos.default", "args": [{"node": "t"}]},
    {"name": "output", "op": "output", "target": "output", "args": [[{"node": "u"}]]}])";
  const auto file = forward_of(
      fmt::format(
          R"({{"name": "true_graph_0", "op": "get_attr", "target": "true_graph_0", "subgraph": {}}},
  {{"name": "false_graph_0", "op": "get_attr", "target": "false_graph_0"}},
  {{"name": "c", "op": "call_function", "target": "torch.ops.higher_order.cond",
   "args": [{{"node": "x"}}, {{"node": "true_graph_0"}}, {{"node": "false_graph_0"}}, [{{"node": "x"}}]],
   "val": [{{"dtype": "float32", "shape": [4]}}]}},
  {{"name": "y", "op": "call_function", "target": "getitem", "args": [{{"node": "c"}}, 0]}})",
          region),
      "y");
  if (!file) FAIL(format(file.diagnostics()));
  const Measurement* measured = file->graph.measurement(file->graph.find("c"));
  REQUIRE(measured != nullptr);
  CHECK(measured->workspace_bytes == 32);  // s and t; u is the call's own result
  CHECK(file->externals_note.find("false_graph_0") != std::string::npos);
  CHECK(print(file->graph).find(R"(external torch.ops.higher_order.cond(%x, "true_graph_0")") !=
        std::string::npos);
}

TEST_CASE("external calls: calls without a value are left out, and can't be read") {
  const std::string check =
      R"({"name": "check", "op": "call_function", "target": "aten._assert_async.default", "args": [{"node": "x"}], "val": null},)";
  const auto sine =
      R"({"name": "y", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "x"}]})";
  const auto file = forward_of(check + sine, "y");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(file->graph.order().size() == 2);
  CHECK(file->externals_note.find("left out: aten._assert_async (1 call)") != std::string::npos);

  const auto read = forward_of(
      check +
          R"({"name": "y", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "check"}]})",
      "y");
  REQUIRE_FALSE(read.ok());
  CHECK(first_fault(read.diagnostics()) == "node 'y': argument 'self' of sin: it has no value");
}

TEST_CASE("external calls: a value that is written to an input follows the results") {
  const auto file = forward_of(
      R"({"name": "v", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "x"}]},
  {"name": "y", "op": "call_function", "target": "aten.cos.default", "args": [{"node": "x"}]},
  {"name": "copy_", "op": "call_function", "target": "aten.copy_.default",
   "args": [{"node": "x"}, {"node": "v"}], "val": {"dtype": "float32", "shape": [4]}},
  {"name": "z", "op": "call_function", "target": "aten.exp.default", "args": [{"node": "copy_"}]})",
      "y");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(print(file->graph) == R"(graph "net" {
  %x = input f32[4]
  %v = sin(%x) : f32[4]
  %y = cos(%x) : f32[4]
  %z = exp(%v) : f32[4]
  same %copy_ %v
  results %y, %v
  mutation 1 %x
}
)");
  CHECK(file->externals_note == "values that are written to inputs follow the results: 1");
  CHECK(evaluate(file->graph, *inputs_from(file->graph, {}, 1)).ok());
}

TEST_CASE("external calls: one that writes to its operand gives that operand's new value") {
  const auto file = forward_of(
      R"({"name": "v", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "x"}]},
  {"name": "w", "op": "call_function", "target": "mine.scale_.default", "args": [{"node": "v"}], "val": null},
  {"name": "y", "op": "call_function", "target": "aten.cos.default", "args": [{"node": "v"}]})",
      "y");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(print(file->graph) == R"(graph "net" {
  %x = input f32[4]
  %v = sin(%x) : f32[4]
  %w = external mine.scale_.default(%v, draw=0) : f32[4]
  %y = cos(%w) : f32[4]
  results %y
}
)");
}

TEST_CASE("external calls: a write in backward is left out") {
  const auto file = parse_joint_graph(
      R"({"format": "fx-joint-graph", "version": 1, "model": "net", "num_fwd_outputs": 1, "joint": [
  {"name": "primals_1", "op": "placeholder", "target": "primals_1", "val": {"dtype": "float32", "shape": [4]}},
  {"name": "tangents_1", "op": "placeholder", "target": "tangents_1", "val": {"dtype": "float32", "shape": [4]}},
  {"name": "y", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "primals_1"}]},
  {"name": "g", "op": "call_function", "target": "aten.mul.Tensor", "args": [{"node": "y"}, {"node": "tangents_1"}]},
  {"name": "c", "op": "call_function", "target": "aten.copy_.default", "args": [{"node": "primals_1"}, {"node": "g"}],
   "val": {"dtype": "float32", "shape": [4]}},
  {"name": "output", "op": "output", "target": "output", "args": [[{"node": "y"}, {"node": "g"}]]}]})",
      "net.json");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(verify(file->graph).empty());
  CHECK(file->graph.results.size() == 1);
  CHECK(file->externals_note == "writes to inputs in backward are left out: 1");
}

TEST_CASE("external calls: a target that is no name is refused") {
  for (const char* target : {"", "a b", "a..b", ".a", "a.", "1a.b", "a.b;c", "mine.\\u00e9"}) {
    CAPTURE(target);
    const auto file = forward_of(
        fmt::format(
            R"({{"name": "y", "op": "call_function", "target": "{}", "args": [], "val": {{"dtype": "float32", "shape": [1]}}}})",
            target),
        "y");
    REQUIRE_FALSE(file.ok());
    CHECK(first_fault(file.diagnostics()).find("no name of an operator") != std::string::npos);
  }
  CHECK(external_name("a.b.default") == "a.b");
  CHECK(external_name("torch.ops.higher_order.cond") == "cond");
  CHECK(external_name(std::string(201, 'a')).empty());
}

TEST_CASE("external calls: faults of the text form") {
  const auto fault = [](std::string_view call) {
    const auto graph = parse_graph_text(
        fmt::format("graph \"g\" {{\n  %x = input f32[4]\n  %y = {}\n  results %y\n}}\n", call),
        "t");
    return graph ? std::string("none") : first_fault(graph.diagnostics());
  };
  CHECK(fault("external mine.f.default(%x) : f32[4]") == "none");
  CHECK(fault("external mine.f.default(%x)") == "expected ':' and the types of an external call");
  CHECK(fault("external mine.f.default(a=1, %x) : f32[4]") ==
        "an argument by position after one by name");
  CHECK(fault("external mine.f.default(a=1, a=2) : f32[4]") ==
        "'mine.f.default' can't have an argument named 'a'");
  CHECK(fault("external mine.f.default(arg0=1) : f32[4]") ==
        "'mine.f.default' can't have an argument named 'arg0'");
  CHECK(fault("external mine.f.default(%x) : none") == "an external call without a value");
}

TEST_CASE("dtypes without arithmetic: types are the file's, compiled code refuses values") {
  const std::string text = R"(graph "g" {
  %x = input c64[4]
  %r = input f8e4m3fn[4]
  %a = mul.Tensor(%x, 2) : c64[4]
  %m = abs(%a) : f32[4]
  %s = sin(%m) : f32[4]
  %c = prims.convert_element_type(%r, f32) : f32[4]
  results %s, %c
}
)";
  const Graph graph = parse(text);
  CHECK(print(graph) == text);
  CHECK(verify(graph).empty());
  CHECK(byte_size(graph.type(graph.find("x"))) == 32);
  CHECK(byte_size(graph.type(graph.find("r"))) == 4);
  const auto report = run_passes(graph, inexact_passes());
  if (!report) FAIL(format(report.diagnostics()));
  CHECK(report->graph().find("m").valid());

  CHECK(evaluate(graph, *inputs_from(graph, {}, 1)).ok());
  const auto loops = lowered(graph, "m");
  REQUIRE_FALSE(loops.ok());
  CHECK(first_fault(loops.diagnostics()).find("c64") != std::string::npos);
}

TEST_CASE(
    "dtypes without arithmetic: a joint graph whose derivatives aren't known stays as it is") {
  const Graph joint = parse(R"(graph "g" {
  %x = parameter c64[4]
  %t = tangent f32[4]
  %h = tanh(%x) : c64[4]
  %m = abs(%h) : f32[4]
  %g = mul.Tensor(%x, %t) : c64[4]
  results %m
  gradients %g
}
)");
  const auto forward = extract_forward_graph(joint);
  REQUIRE_FALSE(forward.ok());
  CHECK(first_fault(forward.diagnostics()).find("derivatives of tanh aren't known yet in c64") !=
        std::string::npos);
}

TEST_CASE("dtypes without values: u16 and its kin are planned only") {
  const Graph graph = parse(R"(graph "g" {
  %x = input u16[4]
  %y = prims.convert_element_type(%x, f32) : f32[4]
  results %y
}
)");
  const auto inputs = inputs_from(graph, {}, 1);
  REQUIRE_FALSE(inputs.ok());
  CHECK(first_fault(inputs.diagnostics()) ==
        "tensor 'in.x' is u16, which Recut doesn't compute with yet");
  const auto joint = differentiate(graph);
  REQUIRE_FALSE(joint.ok());
  CHECK(first_fault(joint.diagnostics()).find("in u16") != std::string::npos);
}

TEST_CASE("dtypes: promotion with complex numbers") {
  CHECK(promote(DType::c64, DType::f32) == DType::c64);
  CHECK(promote(DType::c64, DType::f64) == DType::c128);
  CHECK(promote(DType::i64, DType::c64) == DType::c64);
  CHECK(promote(DType::c64, DType::c128) == DType::c128);
  CHECK(promote(DType::boolean, DType::f8e5m2) == DType::f8e5m2);
}

}  // namespace
}  // namespace recut

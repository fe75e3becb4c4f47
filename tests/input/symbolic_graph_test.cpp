// Graphs whose sizes are symbols: they are those of the static capture of that size.
#include <fmt/core.h>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/paths.h"

namespace recut {
namespace {

// A product over a symbolic batch; the symbol is an input, and its double an argument.
constexpr std::string_view kSymbolic = R"({"format": "fx-joint-graph", "version": 1,
  "model": "symbolic", "num_fwd_outputs": 2,
  "symbols": {"s5": {"hint": 16, "min": 2, "max": 64}, "s9": {"hint": 16, "min": 2, "max": null}},
  "joint": [
  {"name": "primals_1", "op": "placeholder", "target": "primals_1", "args": [],
   "val": {"dtype": "float32", "shape": [3, 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "primals_2", "op": "placeholder", "target": "primals_2", "args": [],
   "val": {"sym": "s5", "type": "SymInt"}},
  {"name": "primals_3", "op": "placeholder", "target": "primals_3", "args": [],
   "val": {"dtype": "float32", "shape": ["s5", 3], "stride": [3, 1], "device": "cpu"}},
  {"name": "tangents_1", "op": "placeholder", "target": "tangents_1", "args": [],
   "val": {"dtype": "float32", "shape": ["2*s5"], "stride": [1], "device": "cpu"}},
  {"name": "mm", "op": "call_function", "target": "aten.mm.default",
   "args": [{"node": "primals_3"}, {"node": "primals_1"}],
   "val": {"dtype": "float32", "shape": ["s5", 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "mul", "op": "call_function", "target": "_operator.mul",
   "args": [{"node": "primals_2"}, 2], "val": {"sym": "2*s5", "type": "SymInt"}},
  {"name": "view", "op": "call_function", "target": "aten.view.default",
   "args": [{"node": "mm"}, [{"node": "mul"}]],
   "val": {"dtype": "float32", "shape": ["2*s5"], "stride": [1], "device": "cpu"}},
  {"name": "view_1", "op": "call_function", "target": "aten.view.default",
   "args": [{"node": "tangents_1"}, [{"node": "primals_2"}, 2]],
   "val": {"dtype": "float32", "shape": ["s5", 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "permute", "op": "call_function", "target": "aten.permute.default",
   "args": [{"node": "primals_3"}, [1, 0]],
   "val": {"dtype": "float32", "shape": [3, "s5"], "stride": [1, 3], "device": "cpu"}},
  {"name": "mm_1", "op": "call_function", "target": "aten.mm.default",
   "args": [{"node": "permute"}, {"node": "view_1"}],
   "val": {"dtype": "float32", "shape": [3, 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "output", "op": "output", "target": "output",
   "args": [[{"node": "view"}, {"node": "mul"}, {"node": "mm_1"}, null, null]]}]})";

std::string printed(int batch) {
  return fmt::format(R"(graph "symbolic" on cpu {{
  %primals_1 = parameter f32[3, 2]
  %primals_3 = input f32[{0}, 3]
  %tangents_1 = tangent f32[{1}]
  %mm = mm(%primals_3, %primals_1) : f32[{0}, 2]
  %view = view(%mm, [{1}]) : f32[{1}]
  %view_1 = view(%tangents_1, [{0}, 2]) : f32[{0}, 2]
  %permute = permute(%primals_3, [1, 0]) : f32[3, {0}]{{1, 3}}
  %mm_1 = mm(%permute, %view_1) : f32[3, 2]
  results %view
  gradients %mm_1, none
}}
)",
                     batch, 2 * batch);
}

TEST_CASE("symbolic: a symbol that is no size may have any hint", "[input]") {
  std::string text(kSymbolic);
  const std::string other = R"("s9": {"hint": 16, "min": 2, "max": null})";
  for (const char* hint : {"0", "1", "-3"}) {
    INFO(hint);
    std::string with = text;
    with.replace(with.find(other), other.size(),
                 fmt::format(R"("s9": {{"hint": {}, "min": null, "max": null}})", hint));
    const auto file = parse_joint_graph(with, "s.json");
    INFO((file ? std::string() : format(file.diagnostics())));
    REQUIRE(file.ok());
    CHECK(print(file->graph) == printed(16));
  }
}

TEST_CASE("symbolic: sizes, strides, arguments and inputs take the number of a symbol", "[input]") {
  const auto hinted = parse_joint_graph(kSymbolic, "symbolic.json");
  if (!hinted) FAIL(format(hinted.diagnostics()));
  CHECK(print(hinted->graph) == printed(16));
  CHECK(hints_text(hinted->symbols) == "s5=16");
  for (const int batch : {2, 7, 64}) {
    const auto file = parse_joint_graph(kSymbolic, "symbolic.json", "joint", {{"s5", batch}});
    if (!file) FAIL(format(file.diagnostics()));
    CHECK(print(file->graph) == printed(batch));
    CHECK(verify(file->graph).empty());
    CHECK(hints_text(file->symbols).empty());
  }
}

std::string fault_with(const std::string& from, const std::string& to, const Dimensions& sizes) {
  std::string text(kSymbolic);
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  const auto file = parse_joint_graph(text, "symbolic.json", "joint", sizes);
  return file ? "none" : format(file.diagnostics());
}

TEST_CASE("symbolic: faults name the node, the expression and the symbols", "[input]") {
  const auto has = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(fault_with("symbolic", "symbolic", {{"s5", 65}}),
      "--dim s5=65: the graph was traced for s5 from 2 to 64");
  has(fault_with("\"2*s5\"]", "\"2*s7\"]", {}),
      "node 'tangents_1': the size '2*s7': the symbol s7 has no hint: give it a size by --dim");
  has(fault_with("\"sym\": \"2*s5\"", "\"sym\": \"2*(s5\"", {}),
      "node 'view': argument 'size' of view: the size '2*(s5'");
  has(fault_with("\"sym\": \"2*s5\"", "\"sym\": 5", {}), "'sym' is an int, expected an expression");
  has(fault_with("{\"hint\": 16, \"min\": 2, \"max\": 64}", "16", {}),
      "the symbol 's5' is an int, expected an object");
  has(fault_with("symbolic", "symbolic", {{"s9", 8}}),
      "--dim s9: no size of this graph has that symbol; found: s5");
  has(fault_with("\"hint\": 16, \"min\": 2, \"max\": 64", "\"hint\": 16.5", {}),
      "'hint' of the symbol 's5' is a float, expected an int");
  has(fault_with("[\"s5\", 3], \"stride\"", "[\"s6\", 3], \"stride\"", {}), "--dim s6=N");
  has(fault_with("{\"node\": \"mul\"}, {\"node\": \"mm_1\"}",
                 "{\"dtype\": \"float32\"}, {\"node\": \"mm_1\"}", {}),
      "output 1");
  has(fault_with("{\"node\": \"mm_1\"}, null, null]]", "{\"node\": \"mul\"}, null, null]]", {}),
      "a size, expected a gradient or null");
  // A gradient of a size, and sizes that are one under two names.
  has(fault_with("null, null]]", "{\"node\": \"mm_1\"}, null]]", {}), "a gradient of a size");
  const std::string two_names =
      fault_with("[\"s5\", 3], \"stride\"", "[\"s9\", 3], \"stride\"", {{"s5", 8}});
  has(two_names, "node 'mm'");
  has(two_names, "where they are one size, give it to all of them: --dim s5=8 --dim s9=8");
}

struct Traced {
  std::size_t nodes = 0;
  std::int64_t peak = 0, least = 0;
  double step_us = 0;
};
Traced planned(const std::string& path, const Dimensions& sizes) {
  OpenOptions options;
  options.sizes = sizes;
  const auto document = open_document(path, options);
  if (!document) FAIL(format(document.diagnostics()));
  PlanningRequest request;
  const auto free = plan_document(*document, request);
  request.budget = "1B";
  const auto least = plan_document(*document, request);
  REQUIRE((free.ok() && least.ok()));
  return {document->graph().order().size(), free->report.peak_bytes, least->report.peak_bytes,
          free->report.step_us};
}

TEST_CASE("symbolic: a bound graph plans as the static capture of that size",
          "[input][partition]") {
  const std::string symbolic = RECUT_SOURCE_DIR "/tests/input/graphs/mlp_sym.json.gz";
  const Traced bound = planned(symbolic, {{"s17", 128}});
  const Traced captured = planned(RECUT_SOURCE_DIR "/samples/joint/mlp.json.gz", {});
  CHECK(bound.nodes == captured.nodes);
  CHECK(bound.peak == captured.peak);
  CHECK(bound.least == captured.least);
  CHECK(bound.step_us == captured.step_us);
  const Traced larger = planned(symbolic, {{"s17", 256}});
  CHECK(larger.nodes == bound.nodes);
  CHECK(larger.peak > bound.peak);
}

}  // namespace
}  // namespace recut

// Operator libraries: calls of operators that Recut lacks become calls of its own, or diagnostics.
#include "engine/workspace/op_library.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/region_memory.h"
#include "engine/workspace/open_document.h"

namespace recut {
namespace {

const OpLibrarySource kScaleRules{"", "scale.rules", R"(; The custom operator of the tests.
rule "whole" {
  pattern {
    %x = any
    %y = external mine.scale(%x, ?s)
    results %y
  }
  where integral(dtype(%x))
  replacement {
    %z = mul.Tensor(%x, ?s)
    results %z
  }
}
rule "real" {
  pattern {
    %x = any floating
    %y = external mine.scale(%x, ?s)
    results %y
  }
  where ?s != 0
  replacement {
    %d = reciprocal(%x)
    %e = reciprocal(%d)
    %z = mul.Tensor(%e, ?s)
    results %z
  }
}
)"};

Graph library_graph(const std::string& lines) {
  auto graph = parse_graph_text("graph \"g\" {\n" + lines + "\n}", "g.recut");
  if (!graph) FAIL(format(graph.diagnostics()));
  return std::move(*graph);
}

std::shared_ptr<const OpLibrary> library_of(const std::vector<OpLibrarySource>& sources) {
  auto library = read_op_library(sources);
  if (!library) FAIL(format(library.diagnostics()));
  return *library;
}

std::string fault_of_library(const std::vector<OpLibrarySource>& sources) {
  const auto library = read_op_library(sources);
  REQUIRE_FALSE(library.ok());
  return format(library.diagnostics());
}

std::string expanded(const std::vector<OpLibrarySource>& sources, const std::string& lines) {
  const auto graph = expand_operators(library_graph(lines), *library_of(sources));
  return graph ? print(*graph) : format(graph.diagnostics());
}

std::string printed(const std::string& lines) { return print(library_graph(lines)); }

TEST_CASE("operator library: the first rule whose guards hold gives the expansion") {
  CHECK(expanded({kScaleRules}, R"(
  %x = input i64[4]
  %y = external mine.scale.default(%x, 3) : i64[4]
  results %y)") == printed("%x = input i64[4]\n%y = mul.Tensor(%x, 3)\nresults %y"));
  CHECK(expanded({kScaleRules}, R"(
  %x = input f32[4]
  %y = external mine.scale.default(%x, 3) : f32[4]
  %z = external mine.scale.default(%y, 2) : f32[4]
  results %z)") == printed(R"(
  %x = input f32[4]
  %reciprocal = reciprocal(%x)
  %reciprocal_1 = reciprocal(%reciprocal)
  %y = mul.Tensor(%reciprocal_1, 3)
  %reciprocal_2 = reciprocal(%y)
  %reciprocal_3 = reciprocal(%reciprocal_2)
  %z = mul.Tensor(%reciprocal_3, 2)
  results %z)"));
}

TEST_CASE("operator library: the file's own calls keep their names") {
  const std::string lines = R"(
  %x = input f32[4]
  %y = external mine.scale(%x, 3) : f32[4]
  %reciprocal = sin(%y)
  %reciprocal_1 = cos(%reciprocal)
  results %reciprocal_1)";
  const std::string by_rules = expanded({kScaleRules}, lines);
  INFO(by_rules);
  CHECK(by_rules.find("%reciprocal = sin(%y)") != std::string::npos);
  CHECK(by_rules.find("%reciprocal_1 = cos(%reciprocal)") != std::string::npos);
  const OpLibrarySource graph{"mine.scale", "scale.recut", R"(graph "scale" {
  %x = input f32[4]
  %a = reciprocal(%x)
  %b = reciprocal(%a)
  %c = mul.Tensor(%b, 3)
  results %c
})"};
  const std::string by_graph = expanded({graph}, R"(
  %x = input f32[4]
  %y = external mine.scale(%x) : f32[4]
  %reciprocal = sin(%y)
  %reciprocal_1 = cos(%reciprocal)
  results %reciprocal_1)");
  INFO(by_graph);
  CHECK(by_graph.find("%reciprocal = sin(%y)") != std::string::npos);
  CHECK(by_graph.find("%reciprocal_1 = cos(%reciprocal)") != std::string::npos);
}

TEST_CASE("operator library: a call that no expansion fits is a diagnostic") {
  CHECK(expanded({kScaleRules}, R"(
  %x = input f32[4]
  %y = external mine.scale(%x, 0) : f32[4]
  results %y)") ==
        "error: node 'y': found %y = external mine.scale(%x, 0, draw=0) : f32[4], of (f32[4]); "
        "expected a call that fits rule 'whole' of scale.rules:2; or rule 'real' of "
        "scale.rules:14\n");
  // The file's type differs from the expansion's.
  const std::string other = expanded({kScaleRules}, R"(
  %x = input f32[4]
  %y = external mine.scale(%x, 2) : f32[5]
  results %y)");
  CHECK(other.find("rule 'real' of scale.rules: result 1 would become f32[4] where it is f32[5]") !=
        std::string::npos);
}

TEST_CASE("operator library: other operators and other graphs stay as they are") {
  const std::string lines = R"(
  %x = input f32[4]
  %y = external mine.other(%x) : f32[4]
  results %y)";
  CHECK(expanded({kScaleRules}, lines) == printed(lines));
}

TEST_CASE("operator library: calls for effects and calls of nested graphs are refused") {
  CHECK(
      expanded({kScaleRules}, R"(
  %x = input f32[4]
  %y = external mine.scale(%x, 2) : f32[4]
  results %x)")
          .find("node 'y': no output needs this call of mine.scale, so it runs for its effects") !=
      std::string::npos);
  const OpLibrarySource cond{"", "cond.rules", R"(rule "cond" {
  pattern {
    %p = any
    %x = any
    %c = external torch.ops.higher_order.cond(%p, _, _, [%x])
    %y = getitem(%c, 0)
    results %y
  }
  replacement {
    %z = exp(%x)
    results %z
  }
})"};
  const std::string call = R"(
  %p = input bool[]
  %x = input f32[4]
  %c = external torch.ops.higher_order.cond(%p, "a", "b", [%x]) : (f32[4])
  %y = getitem(%c, 0)
  results %y)";
  const auto region = [](const std::string& name) {
    return "\n  region \"" + name +
           "\" {\n    %q = input f32[4]\n    %r = neg(%q)\n    results %r\n  }";
  };
  CHECK(expanded({cond}, call + region("a") + region("b"))
            .find("node 'c': Recut computes this call of cond by its nested graphs") !=
        std::string::npos);
  // Its file lacks the nested graphs.
  CHECK(expanded({cond}, call).find("%y = exp(%x)") != std::string::npos);
}

TEST_CASE("operator library: nested graphs are expanded, and their memory is counted again") {
  const std::string body = R"(
  %p = input bool[]
  %x = input f32[1024]
  %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x]) : (f32[1024])
  %y = getitem(%c, 0)
  results %y
  region "yes" {
    %a = input f32[1024]
    %b = external mine.scale(%a, 3) : f32[1024]
    results %b
  }
  region "no" {
    %a = input f32[1024]
    %b = neg(%a)
    results %b
  })";
  const auto graph = expand_operators(library_graph(body), *library_of({kScaleRules}));
  if (!graph) FAIL(format(graph.diagnostics()));
  CHECK(print(*graph->region("yes")).find("external") == std::string::npos);
  const NodeId call = graph->find("c");
  REQUIRE(graph->measurement(call) != nullptr);
  CHECK(graph->measurement(call)->workspace_bytes == region_bytes(*graph, call));
  CHECK(region_bytes(*graph, call) > 0);
}

TEST_CASE("operator library: files of rules are checked as they are read") {
  CHECK(fault_of_library({{"", "a.rules", R"(rule "plain" {
  pattern {
    %x = any
    %y = exp(%x)
    results %y
  }
  replacement {
    %z = relu(%x)
    results %z
  }
})"}}).find("a.rules:1:1: error: rule 'plain' names no operator that Recut lacks") !=
        std::string::npos);
  OpLibrarySource named = kScaleRules;
  named.op = "mine.scale";
  CHECK(fault_of_library({named}).find("rules name their operators themselves") !=
        std::string::npos);
  CHECK(fault_of_library({{"", "b.rules", "rule \"x\" {\n  pattern {\n"}}).find("b.rules:3") !=
        std::string::npos);
}

OpLibrarySource graph_source(const std::string& op, const std::string& file,
                             const std::string& lines) {
  return {op, file, "graph \"" + op + "\" {\n" + lines + "\n}"};
}

const OpLibrarySource kScaleGraph = graph_source("mine.scale", "scale.recut", R"(
  %a = input f32[4]
  %e = exp(%a)
  %b = mul.Tensor(%e, 3)
  results %b)");

TEST_CASE("operator library: a graph stands for the calls of its types") {
  const std::string call = "%x = input f32[4]\n%y = external mine.scale(%x, 3) : f32[4]\n";
  const std::string written = printed(R"(
  %x = input f32[4]
  %exp = exp(%x)
  %y = mul.Tensor(%exp, 3)
  results %y)");
  CHECK(expanded({kScaleGraph}, call + "results %y") == written);
  OpLibrarySource unnamed = kScaleGraph;
  unnamed.op.clear();
  CHECK(expanded({unnamed}, call + "results %y") == written);
  CHECK(expanded({kScaleGraph}, R"(
  %x = input f64[4]
  %y = external mine.scale(%x, 3) : f64[4]
  results %y)") ==
        "error: node 'y': found %y = external mine.scale(%x, 3, draw=0) : f64[4], of (f64[4]); "
        "expected a call that fits graph scale.recut of (f32[4]) that gives (f32[4])\n");
  // The graph of the matching types is used.
  const OpLibrarySource longer = graph_source("mine.scale", "longer.recut", R"(
  %a = input f64[4]
  %b = neg(%a)
  results %b)");
  CHECK(expanded({kScaleGraph, longer}, R"(
  %x = input f64[4]
  %y = external mine.scale(%x, 3) : f64[4]
  results %y)") == printed("%x = input f64[4]\n%y = neg(%x)\nresults %y"));
}

TEST_CASE("operator library: a graph can't stand for calls with other numbers") {
  const std::string found = expanded({kScaleGraph}, R"(
  %x = input f32[4]
  %y = external mine.scale(%x, 3) : f32[4]
  %z = external mine.scale(%y, 4) : f32[4]
  results %z)");
  CHECK(found ==
        "error: node 'z': found numbers in this call of mine.scale that the call 'y' doesn't have, "
        "expected the same ones in all calls of scale.recut: rules tell them apart\n");
}

TEST_CASE("operator library: a graph with symbols fits calls of any sizes") {
  const OpLibrarySource symbolic{"mine.wide", "wide.json", R"({
  "format": "fx-joint-graph", "version": 1, "model": "wide",
  "symbols": {"s0": {"hint": 4, "min": 2, "max": null}, "s1": {"hint": 8, "min": 2, "max": 20}},
  "forward": [
  {"name": "a", "op": "placeholder", "target": "a", "val": {"dtype": "float32", "shape": ["s0", "2*s1"]}},
  {"name": "c", "op": "placeholder", "target": "c", "val": {"dtype": "float32", "shape": ["s1", 1]}},
  {"name": "b", "op": "call_function", "target": "aten.cat.default",
   "args": [[{"node": "c"}, {"node": "c"}]], "val": {"dtype": "float32", "shape": ["2*s1", 1]}},
  {"name": "y", "op": "call_function", "target": "aten.mm.default",
   "args": [{"node": "a"}, {"node": "b"}], "val": {"dtype": "float32", "shape": ["s0", 1]}},
  {"name": "output", "op": "output", "target": "output", "args": [[{"node": "y"}]]}]})"};
  const auto found = [&](int rows, int columns) {
    return expanded({symbolic}, fmt::format("%x = input f32[{0}, {2}]\n%w = input f32[{1}, 1]\n"
                                            "%y = external mine.wide(%x, %w) : f32[{0}, 1]\n"
                                            "results %y",
                                            rows, columns, 2 * columns));
  };
  const auto written = [](int rows, int columns) {
    return printed(
        fmt::format("%x = input f32[{0}, {2}]\n%w = input f32[{1}, 1]\n"
                    "%cat = cat([%w, %w])\n%y = mm(%x, %cat)\nresults %y",
                    rows, columns, 2 * columns));
  };
  CHECK(found(3, 5) == written(3, 5));
  CHECK(found(4, 8) == written(4, 8));
  CHECK(found(3, 30).find("with any s0, s1") != std::string::npos);  // beyond the range of s1
}

TEST_CASE("operator library: a graph has several inputs and results, some of them unread") {
  const OpLibrarySource pair = graph_source("mine.pair", "pair.recut", R"(
  %a = input f32[4]
  %b = input f32[2, 4]
  %s = add.Tensor(%a, %b)
  %t = sin(%b)
  results %s, %t, %a)");
  const std::string call = R"(
  %x = input f32[2, 4]
  %w = input f32[4]
  %p = external mine.pair([%w], none, mode="a", other=%x) : (f32[2, 4], f32[2, 4], f32[4])
)";
  CHECK(expanded({pair}, call + "%t = getitem(%p, 1)\n%a = getitem(%p, 2)\nresults %a, %t") ==
        printed(R"(
  %x = input f32[2, 4]
  %w = input f32[4]
  %t = sin(%x)
  %a = clone(%w)
  results %a, %t)"));
}

TEST_CASE("operator library: strides of operands and results are the file's") {
  const std::string found = expanded({kScaleGraph}, R"(
  %x = input f32[8]
  %h = slice.Tensor(%x, 0, 0, 8, 2)
  %y = external mine.scale(%h, 3) : f32[4]
  results %y)");
  CHECK(found.find("clone(%h") != std::string::npos);
  const OpLibrarySource wide = graph_source("mine.wide", "wide.recut", R"(
  %a = input f32[2, 3]
  %b = exp(%a)
  results %b)");
  const auto graph = expand_operators(library_graph(R"(
  %x = input f32[2, 3]
  %y = external mine.wide(%x) : f32[2, 3]{1, 2}
  results %y)"),
                                      *library_of({wide}));
  if (!graph) FAIL(format(graph.diagnostics()));
  CHECK(graph->type(graph->results.front()).strides == Strides{1, 2});
}

TEST_CASE("operator library: graphs call operators of the library, but never themselves") {
  const OpLibrarySource outer = graph_source("mine.outer", "outer.recut", R"(
  %a = input f32[4]
  %b = external mine.scale(%a, 3) : f32[4]
  %c = external mine.scale(%b, 3) : f32[4]
  results %c)");
  const std::string lines = "%x = input f32[4]\n%y = external mine.outer(%x) : f32[4]\nresults %y";
  const std::string written = printed(R"(
  %x = input f32[4]
  %exp = exp(%x)
  %mul = mul.Tensor(%exp, 3)
  %exp_1 = exp(%mul)
  %y = mul.Tensor(%exp_1, 3)
  results %y)");
  CHECK(expanded({outer, kScaleGraph}, lines) == written);
  CHECK(expanded({kScaleGraph, outer}, lines) == written);
  CHECK(fault_of_library({outer}) ==
        "outer.recut: error: node 'b': it calls mine.scale, which Recut and the library lack\n"
        "outer.recut: error: node 'c': it calls mine.scale, which Recut and the library lack\n");
  const OpLibrarySource back = graph_source("mine.scale", "scale.recut", R"(
  %a = input f32[4]
  %b = external mine.outer(%a) : f32[4]
  results %b)");
  CHECK(fault_of_library({outer, back}) ==
        "error: the expansion of mine.outer calls itself: mine.outer → mine.scale → mine.outer\n");
}

TEST_CASE("operator library: a graph that can't stand for a call is refused") {
  const auto fault = [](const std::string& lines) {
    return fault_of_library({graph_source("mine.scale", "s.recut", lines)});
  };
  CHECK(fault("%a = input f32[4]\n%b = bernoulli(%a)\nresults %b").find("draws random numbers") !=
        std::string::npos);
  CHECK(fault("%a = input f32[4]\n%c = constant f32[4]\n%b = mul.Tensor(%a, %c)\nresults %b")
            .find("s.recut: error: node 'c': it can't stand in a call's place: it is a constant") !=
        std::string::npos);
  CHECK(fault("%a = input f32[4]\n%t = tangent f32[4]\n%b = exp(%a)\n%g = mul.Tensor(%t, %b)\n"
              "results %b\ngradients %g")
            .find("a joint graph, expected an operator's forward graph") != std::string::npos);
  CHECK(fault_of_library({kScaleGraph, kScaleGraph}).find("has the types of scale.recut") !=
        std::string::npos);
  CHECK(fault_of_library({{"", "n.recut", "graph \"net\" {\n%a = input f32[4]\nresults %a\n}"}})
            .find("n.recut: error: found a graph named 'net', expected OPERATOR=FILE") !=
        std::string::npos);
  CHECK(fault_of_library({graph_source("mm", "mm.recut", "%a = input f32[4]\nresults %a")})
            .find("Recut knows 'mm', expected an operator that it lacks") != std::string::npos);
  CHECK(fault_of_library({{"", "x.txt", "no graph"}}).find("x.txt") != std::string::npos);
}

TEST_CASE("operator library: a document is opened with the expansions in place") {
  const std::string text =
      R"({"format": "fx-joint-graph", "version": 1, "model": "net", "forward": [
  {"name": "x", "op": "placeholder", "target": "x", "val": {"dtype": "float32", "shape": [4]}},
  {"name": "y", "op": "call_function", "target": "mine.scale.default", "args": [{"node": "x"}, 2],
   "val": {"dtype": "float32", "shape": [4]}},
  {"name": "output", "op": "output", "target": "output", "args": [[{"node": "y"}]]}]})";
  OpenOptions options;
  options.library = library_of({kScaleRules});
  options.differentiate = GradMode::reverse;
  const auto document = open_document_bytes(text, "net.json", options);
  if (!document) FAIL(format(document.diagnostics()));
  CHECK(print(document->graph()).find("external") == std::string::npos);
  CHECK(document->file.notes() ==
        std::vector<std::string>{"the operator library expands mine.scale (1 call)"});
  options.library = nullptr;
  const auto refused = open_document_bytes(text, "net.json", options);
  REQUIRE_FALSE(refused.ok());
  CHECK(format(refused.diagnostics()).find("give its expansion by --op-library FILE") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut

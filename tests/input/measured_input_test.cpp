// What a file says was measured of its nodes: where it ends up, and how it can be wrong.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"

namespace recut {
namespace {

constexpr std::string_view kMeasuredInputX =
    R"({"name": "x", "op": "placeholder", "target": "x", "val": {"dtype": "float32", "shape": [4]}MEASURED})";

std::string call(std::string_view name, std::string_view target, std::string_view of,
                 std::string_view measured) {
  return fmt::format(
      R"({{"name": "{}", "op": "call_function", "target": "aten.{}", "args": [{{"node": "{}"}}]{}}})",
      name, target, of, measured.empty() ? "" : fmt::format(R"(, "measured": {})", measured));
}

// x, a = exp(x), b = exp(x), y = relu(a).
std::string measured_file(std::string_view a, std::string_view b = "", std::string_view facts = "",
                          std::string_view of_x = "") {
  std::string x(kMeasuredInputX);
  x.replace(x.find("MEASURED"), 8, of_x);
  return fmt::format(
      R"({{"format": "fx-joint-graph", "version": 1, "num_fwd_outputs": 1{}, "joint": [{}, {}, {}, {},
      {{"name": "output", "op": "output", "target": "output", "args": [[{{"node": "y"}}, {{"node": "b"}}]]}}]}})",
      facts, x, call("a", "exp.default", "x", a), call("b", "exp.default", "x", b),
      call("y", "relu.default", "a", ""));
}

GraphFile read_measured(const std::string& text) {
  auto measured_file = parse_joint_graph(text, "f");
  INFO((measured_file ? std::string() : format(measured_file.diagnostics())));
  REQUIRE(measured_file.ok());
  return std::move(*measured_file);
}

TEST_CASE("measured: a file without measurements has none", "[input]") {
  const GraphFile bare = read_measured(measured_file(""));
  CHECK(bare.graph.measured == nullptr);
  CHECK(bare.graph.measurement(bare.graph.find("a")) == nullptr);
}

TEST_CASE("measured: times and workspaces stand beside the nodes", "[input]") {
  const GraphFile both = read_measured(
      measured_file(R"({"us": 12.5, "workspace_bytes": 1048576})", "",
                    R"(, "measured_on": "NVIDIA H200", "allocation_granularity": 512)"));
  const Graph& graph = both.graph;
  REQUIRE(graph.measured != nullptr);
  CHECK(graph.measured->has_times());
  CHECK(graph.measured->device == "NVIDIA H200");
  CHECK(graph.measured->granularity == 512);
  CHECK(graph.measured->allocated(0) == 0);
  CHECK(graph.measured->allocated(1) == 512);
  CHECK(graph.measured->allocated(512) == 512);
  const Measurement* a = graph.measurement(graph.find("a"));
  REQUIRE(a != nullptr);
  CHECK(a->micros == 12.5);
  CHECK(a->workspace_bytes == 1048576);
  const Measurement* y = graph.measurement(graph.find("y"));
  CHECK((y == nullptr || (!y->micros && y->workspace_bytes == 0)));
}

TEST_CASE("measured: either key may be missing", "[input]") {
  const GraphFile time = read_measured(measured_file(R"({"us": 0})"));
  CHECK(time.graph.measurement(time.graph.find("a"))->micros == 0);
  const GraphFile bytes = read_measured(measured_file(R"({"workspace_bytes": 7})"));
  CHECK_FALSE(bytes.graph.measured->has_times());
  CHECK(bytes.graph.measurement(bytes.graph.find("a"))->workspace_bytes == 7);
  const GraphFile granular =
      read_measured(measured_file("", "", R"(, "allocation_granularity": 1)"));
  CHECK(granular.graph.measured == nullptr);
}

TEST_CASE("measured: of nodes that are one the larger counts, each figure by itself", "[input]") {
  const GraphFile twice = read_measured(measured_file(R"({"us": 3, "workspace_bytes": 100})",
                                                      R"({"us": 2, "workspace_bytes": 200})"));
  const Graph& graph = twice.graph;
  REQUIRE(graph.find("a") == graph.find("b"));
  CHECK(graph.measurement(graph.find("a"))->micros == 3);
  CHECK(graph.measurement(graph.find("a"))->workspace_bytes == 200);
}

TEST_CASE("measured: what is wrong is told once, with the node's name", "[input]") {
  struct Fault {
    std::string text;
    std::string_view message;
  };
  const Fault faults[] = {
      {measured_file("3"), "node 'a': 'measured' is an int, expected an object"},
      {measured_file("{\"us\": -1}"),
       "'measured' of node 'a': 'us' is -1, expected 0 to 1000000000000"},
      {measured_file("{\"us\": 1e300}"),
       "'measured' of node 'a': 'us' is 1e+300, expected 0 to 1000000000000"},
      {measured_file("{\"us\": \"3\"}"),
       "'measured' of node 'a': 'us' is a string, expected a float"},
      {measured_file("{\"workspace_bytes\": -1}"),
       "'measured' of node 'a': 'workspace_bytes' is -1, expected 0 to 1125899906842624"},
      {measured_file("{\"workspace_bytes\": 1125899906842625}"),
       "'measured' of node 'a': 'workspace_bytes' is 1125899906842625, expected 0 to "
       "1125899906842624"},
      {measured_file("{\"workspace_bytes\": 1.5}"),
       "'measured' of node 'a': 'workspace_bytes' is a float, expected an int"},
      {measured_file("{\"ms\": 1}"),
       "'measured' of node 'a': unknown 'ms', expected one of: us, workspace_bytes"},
      {measured_file("", "", R"(, "allocation_granularity": 0)"),
       "the file: 'allocation_granularity' is 0, expected 1 to 1073741824"},
      {measured_file("", "", R"(, "allocation_granularity": 1.5)"),
       "the file: 'allocation_granularity' is a float, expected an int"},
      {measured_file("", "", R"(, "measured_on": 3)"),
       "the file: 'measured_on' is an int, expected a string"},
      {measured_file("", "", "", R"(, "measured": {"us": 1})"),
       "node 'x': has 'measured', expected of a 'call_function' only"},
  };
  for (const Fault& fault : faults) {
    INFO(fault.text);
    const auto read_measured = parse_joint_graph(fault.text, "f");
    REQUIRE_FALSE(read_measured.ok());
    CHECK(read_measured.diagnostics().front().message == fault.message);
    CHECK(read_measured.diagnostics().size() <= 2);
  }
}

}  // namespace
}  // namespace recut

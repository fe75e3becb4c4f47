// Forward graphs of PyTorch: files with the key "forward".
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/paths.h"

namespace recut {
namespace {

constexpr std::string_view kHead = R"({"format": "fx-joint-graph", "version": 1, "model": "net", )";
constexpr std::string_view kNodes = R"([
  {"name": "primals_1", "op": "placeholder", "target": "primals_1", "args": [],
   "val": {"dtype": "float32", "shape": [3, 2]}},
  {"name": "primals_2", "op": "placeholder", "target": "primals_2", "args": [],
   "val": {"dtype": "float32", "shape": [2]}},
  {"name": "primals_3", "op": "placeholder", "target": "primals_3", "args": [],
   "val": {"dtype": "float32", "shape": [3, 2]}},
  {"name": "scaled", "op": "call_function", "target": "aten.mul.Tensor",
   "args": [{"node": "primals_3"}, {"node": "primals_2"}]},
  {"name": "y", "op": "call_function", "target": "aten.add.Tensor",
   "args": [{"node": "scaled"}, {"node": "primals_1"}]},
  {"name": "output", "op": "output", "target": "output",
   "args": [[{"node": "y"}, {"node": "scaled"}]]}])";

Result<GraphFile> read(std::string_view members, std::string_view key = kDefaultGraphKey) {
  return parse_joint_graph(std::string(kHead) + std::string(members), "net.json", key);
}

std::string with_nodes(std::string_view members) {
  return std::string(members) + "\"forward\": " + std::string(kNodes) + "}";
}

TEST_CASE("a forward graph: parameters stay placeholders, buffers become constants") {
  const auto file = read(with_nodes(R"("parameters": ["primals_1"], "buffers": ["primals_2"], )"));
  REQUIRE(file.ok());
  CHECK(file->key == "forward");
  CHECK(file->graph_keys == std::vector<std::string>{"forward"});
  CHECK(verify(file->graph).empty());
  CHECK(print(file->graph) == R"(graph "net" {
  %primals_1 = parameter f32[3, 2]
  %primals_2 = constant f32[2]
  %primals_3 = input f32[3, 2]
  %scaled = mul.Tensor(%primals_3, %primals_2) : f32[3, 2]
  %y = add.Tensor(%scaled, %primals_1) : f32[3, 2]
  results %y, %scaled
}
)");
}

TEST_CASE("a forward graph: nothing is known of its placeholders where the file says nothing") {
  const auto file = read(with_nodes(R"("num_fwd_outputs": 2, )"), "forward");
  REQUIRE(file.ok());
  for (const NodeId id : file->graph.inputs())
    CHECK(file->graph.input_kind(id) == InputKind::input);
  CHECK(file->graph.results.size() == 2);
  CHECK_FALSE(read(with_nodes(""), "joint_after_passes").ok());
}

TEST_CASE("a forward graph: roles of nodes that have none are refused") {
  const auto message = [](std::string_view members) {
    const auto file = read(with_nodes(members));
    REQUIRE_FALSE(file.ok());
    return file.diagnostics().front().message;
  };
  CHECK(message(R"("parameters": ["y"], )") == "'parameters' names 'y', which is no placeholder");
  CHECK(message(R"("buffers": ["gone"], )") == "'buffers' names 'gone', which is no placeholder");
  CHECK(message(R"("parameters": ["primals_1"], "buffers": ["primals_1"], )") ==
        "node 'primals_1' stands twice among parameters and buffers");
  CHECK(message(R"("parameters": 3, )").find("'parameters' is an int") != std::string::npos);
}

// A lookup in a table of weights and one in a table of positions, whose rows are written in place.
TEST_CASE("a forward graph: written rows leave the tables that they were copied from alone") {
  const auto call = [](std::string_view name, std::string_view target, std::string_view args) {
    return fmt::format(R"({{"name": "{}", "op": "call_function", "target": "aten.{}",
        "args": [{}], "val": {{"dtype": "float32", "shape": [2, 3]}}}},)",
                       name, target, args);
  };
  const auto input = [](std::string_view name, std::string_view type) {
    return fmt::format(R"({{"name": "{}", "op": "placeholder", "target": "{}", "val": {{{}}}}},)",
                       name, name, type);
  };
  const std::string table = R"("dtype": "float32", "shape": [5, 3])";
  const std::string nodes =
      input("w", table) + input("at", R"("dtype": "int64", "shape": [2])") +
      input("positions", table) + input("state", table) +
      call("x", "embedding.default", R"({"node": "w"}, {"node": "at"})") +
      call("p", "embedding.default", R"({"node": "positions"}, {"node": "at"})") +
      call("s", "slice.Tensor", R"({"node": "state"}, 0, 0, 2)") +
      call("sum", "add_.Tensor", R"({"node": "x"}, {"node": "p"})") +
      call("moved", "mul_.Tensor", R"({"node": "p"}, 2)") +
      call("kept", "copy_.default", R"({"node": "s"}, {"node": "sum"})") +
      R"({"name": "output", "op": "output", "target": "output", "args": [[{"node": "sum"}]]})";
  const auto file = read(R"("num_fwd_outputs": 1, "parameters": ["w"],
      "buffers": ["positions", "state"], "forward": [)" +
                         nodes + "]}");
  REQUIRE(file.ok());
  const Graph& graph = file->graph;
  const auto kind = [&](std::string_view name) { return graph.input_kind(graph.find(name)); };
  CHECK(kind("w") == InputKind::parameter);
  CHECK(operator_of(graph[graph.find("positions")].op).op == Op::constant);
  CHECK(kind("state") == InputKind::input);  // written through a view
}

TEST_CASE("a joint graph comes before a forward graph of the same file") {
  const std::string both = std::string(R"("num_fwd_outputs": 2, "joint": )") + std::string(kNodes) +
                           ", \"forward\": [3]}";
  const auto file = read(both);
  REQUIRE(file.ok());
  CHECK(file->key == "joint");
  CHECK(file->graph_keys == std::vector<std::string>{"joint", "forward"});
}

}  // namespace
}  // namespace recut

#include "engine/mesh/distributed_module.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/input/text.h"
#include "tests/mesh/fails.h"
#include "tests/mesh/mesh_tensors.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::count_up;
using recut::test::mesh_of;

namespace {

// 20 linear layers, each with its weight and bias.
Graph twenty_linears() {
  std::string text = "graph \"net\" {\n  %x = input f32[8, 4]\n";
  for (int i = 0; i < 20; ++i)
    text += "  %w" + std::to_string(i) + " = parameter f32[4, 4]\n  %b" + std::to_string(i) +
            " = parameter f32[4]\n";
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    text += "  %h" + n + " = addmm(%b" + n + ", " + (i == 0 ? "%x" : "%h" + std::to_string(i - 1)) +
            ", %w" + n + ")  @\"seq." + n + "\"\n";
  }
  auto graph = parse_graph_text(text + "  results %h19\n}", "test");
  REQUIRE(graph.ok());
  return std::move(*graph);
}

Result<Done> placed(const std::string& text, std::string_view mesh = "dp=2,tp=2") {
  const Graph graph = twenty_linears();
  DistributedModule module(graph, mesh_of(mesh));
  return module.place(text, "net.place");
}

}  // namespace

TEST_CASE("check 19: 20 linears, cut by name and by module, the rest replicated", "[mesh]") {
  const Graph graph = twenty_linears();
  const DeviceMesh mesh = mesh_of("dp=2,tp=2");
  DistributedModule module(graph, mesh);
  const std::string text = R"(; a comment
parameters
  w3      [S(0), R]       ; beats the pattern
  w*      [R, S(1)]
  seq.7   [R, S(-1)]      ; agrees about w7, and cuts b7

inputs
  x       [S(0), R]
outputs
  h19     [S(0), S(1)]
)";
  const auto done = module.place(text, "net.place");
  INFO((done ? std::string() : format(done.diagnostics())));
  REQUIRE(done.ok());
  const auto held = [&](const std::string& name) {
    return format(module.of_input(graph.find(name)), mesh);
  };
  CHECK(held("w0") == "[R, S(1)]");
  CHECK(held("w3") == "[S(0), R]");
  CHECK(held("w7") == "[R, S(1)]");
  CHECK(held("b7") == "[R, S(0)]");
  CHECK(held("b8") == "[R, R]");
  CHECK(held("x") == "[S(0), R]");
  CHECK(format(module.of_results()[0], mesh) == "[S(0), S(1)]");
  CHECK(fails_with(module.place("", "other.place"),
                   "the module is distributed already, by 'net.place'"));
}

TEST_CASE("check 20: inputs are distributed, and keep kind and dtype", "[mesh]") {
  const Graph graph = twenty_linears();
  const DeviceMesh mesh = mesh_of("dp=2,tp=2");
  DistributedModule module(graph, mesh);
  REQUIRE(module.place("inputs\nx [S(0), R]\nparameters\nw* [R, S(0)]\n", "p").ok());
  Inputs values;
  for (const NodeId id : graph.inputs()) values[id] = count_up(graph.type(id).shape);
  Traffic traffic(4);
  const auto tensors = module.distribute_inputs(values, traffic);
  REQUIRE(tensors.ok());
  CHECK(tensors->at(graph.find("x")).locals[2].shape == Shape{4, 4});
  CHECK(tensors->at(graph.find("w1")).locals[1].shape == Shape{2, 4});
  CHECK(tensors->at(graph.find("b1")).locals[3].shape == Shape{4});
  CHECK(tensors->at(graph.find("b1")).type.dtype == DType::f32);
  CHECK(graph.input_kind(graph.find("w1")) == InputKind::parameter);
  values.erase(graph.find("b4"));
  values[graph.find("w4")] = count_up({4, 5});
  CHECK(fails_with(module.distribute_inputs(values, traffic),
                   "node 'b4': it needs a value of f32[4]"));
  CHECK(fails_with(module.distribute_inputs(values, traffic),
                   "node 'w4': it needs a value of f32[4, 4]"));
}

TEST_CASE("check 21: without a file all parameters are replicated", "[mesh]") {
  const Graph graph = twenty_linears();
  const DeviceMesh mesh = mesh_of("cp=4");
  const DistributedModule module(graph, mesh);
  CHECK(module.inputs().size() == 41);
  for (const NodeId id : module.inputs()) CHECK(format(module.of_input(id), mesh) == "[R]");
}

TEST_CASE("checks 15, 19: faults of a placement file have their lines", "[mesh]") {
  CHECK(placed("parameters\nw1 [R, R]\n").ok());
  CHECK(placed("").ok());
  const auto says = [](const std::string& text, const std::string& words) {
    const auto result = placed(text);
    INFO(text << (result ? "" : format(result.diagnostics())));
    CHECK(fails_with(result, words));
  };
  says("w1 [R, R]", "net.place:1:1: error: 'w1 [R, R]' stands before the first section");
  says("parameters\n\nw1", "net.place:3:1: error: 'w1' has no placements");
  says("parameters\nw1 [R]", "parameter 'w1': [R] has 1 placements, expected 2");
  says("parameters\nw1 [Q, R]", "'Q' is no placement");
  says("parameters\nw1 [S(2), R]", "parameter 'w1': [S(2), R] shards dimension 2, and the tensor");
  says("parameters\nw1 [P(max), P(sum)]", "these reductions don't commute");
  says("parameters\nw1 [R, R]\nw1 [R, S(0)]", "net.place:3:1: error: 'w1' stands in line 2, too");
  says("parameters\nw* [R, R]\nseq.1 [R, S(0)]",
       "net.place:3:1: error: parameter 'w1' has [R, R] by line 2 and [R, S(0)] by this one");
  says("parameters\nseq.20 [R, R]", "no parameter has the name or the module path 'seq.20'");
  says("parameters\nseq.20 [R, R]", "did you mean 'seq.");
  says("parameters\nh3 [R, R]", "'h3' is computed by the graph, expected a parameter or an input");
  says("parameters\nx [R, R]", "'x' is no parameter of the graph; put it into its own section");
  says("outputs\nw1 [R, R]", "'w1' is no output of the graph");
}

TEST_CASE("check 19: a module's path may be the name of a call, too", "[mesh]") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n  %w = parameter f32[4]\n  %mlp = neg(%w) @\"net.mlp\"\n  results %mlp\n}",
      "test");
  REQUIRE(graph.ok());
  const DeviceMesh mesh = mesh_of("x=4");
  DistributedModule module(*graph, mesh);
  REQUIRE(module.place("parameters\nmlp S(0)\noutputs\nmlp S(0)\n", "p").ok());
  CHECK(format(module.of_input(graph->find("w")), mesh) == "[S(0)]");
  CHECK(format(module.of_results()[0], mesh) == "[S(0)]");
}

TEST_CASE("a table shows the shapes and bytes of each rank", "[mesh]") {
  auto graph = parse_graph_text(
      "graph \"g\" {\n  %w = parameter f32[13, 3]\n  %x = input bf16[4]\n  %y = neg(%w)\n"
      "  results %y\n}",
      "test");
  REQUIRE(graph.ok());
  DistributedModule module(*graph, mesh_of("x=4"));
  REQUIRE(module.place("parameters\nw S(0)\noutputs\ny S(0)\n", "p").ok());
  CHECK(format(module) ==
        "mesh x=4\n"
        "  value  type        placements  of each rank\n"
        "  w      f32[13, 3]  [S(0)]      0-2: [4, 3] 48 B, 3: [1, 3] 12 B\n"
        "  x      bf16[4]     [R]         [4] 8 B\n"
        "  y      f32[13, 3]  [S(0)]      0-2: [4, 3] 48 B, 3: [1, 3] 12 B\n"
        "inputs of rank 0: 56 B\n");
}

TEST_CASE("a new value of an input lies as the input, unless the file says otherwise", "[mesh]") {
  const auto graph = parse_graph_text(R"(graph "state" {
  %x = input f32[8]
  %state = input f32[8]
  %next = add.Tensor(%state, %x)
  %y = mul.Tensor(%next, 2)
  results %next, %y
  mutation 0 %state
}
)",
                                      "test");
  REQUIRE(graph.ok());
  const DeviceMesh mesh = mesh_of("dp=2,tp=2");
  const auto results_of = [&](const std::string& text) {
    DistributedModule module(*graph, mesh);
    const auto done = module.place(text, "state.place");
    REQUIRE(done.ok());
    std::vector<std::string> held;
    for (const Sharding& sharding : module.of_results()) held.push_back(format(sharding, mesh));
    return held;
  };
  CHECK(results_of("inputs\n  state [S(0), R]\n") ==
        std::vector<std::string>{"[S(0), R]", "[R, R]"});
  CHECK(results_of("inputs\n  state [S(0), R]\noutputs\n  next [R, R]\n") ==
        std::vector<std::string>{"[R, R]", "[R, R]"});
}

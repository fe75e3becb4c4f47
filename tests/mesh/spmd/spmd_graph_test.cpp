// Graphs of ranks, on small graphs: their calls, and the values of all ranks together.
#include "engine/mesh/spmd/spmd_graph.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <string>

#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/mesh/spmd/spmd_evaluation.h"
#include "tests/mesh/rules/valued_graph.h"

namespace recut::mesh {
namespace {

// A graph over a mesh. The module refers to the graph, so that both keep their places.
struct MeshGraph {
  MeshGraph(std::string_view text, const std::string& mesh, std::string_view placements)
      : graph(parse_graph_text(text, "test").value()),
        module(graph, DeviceMesh::parse(mesh).value()) {
    if (const auto placed = module.place(placements, "placements"); !placed)
      FAIL(format(placed.diagnostics()));
    auto decided = shard(module);
    if (!decided) FAIL(format(decided.diagnostics()));
    sharded = std::move(*decided);
  }

  Graph rank(std::int64_t position) const {
    auto spmd = spmd_graph(module, sharded, position);
    if (!spmd) FAIL(format(spmd.diagnostics()));
    CHECK(verify(spmd->graph).empty());
    return std::move(spmd->graph);
  }

  // Result `i` of all ranks together.
  Tensor gathered(const Inputs& inputs, std::size_t i = 0) const {
    EvaluateOptions options;
    options.seed = 7;
    const auto evaluation = evaluate_spmd(module, sharded, inputs, options);
    if (!evaluation) FAIL(format(evaluation.diagnostics()));
    Traffic traffic(module.mesh().size());
    return full_tensor(*evaluation->outputs[i], traffic).value();
  }

  Tensor whole(const Inputs& inputs, std::size_t i = 0) const {
    EvaluateOptions options;
    options.seed = 7;
    return evaluate(graph, inputs, options).value().outputs[i];
  }

  Graph graph;
  DistributedModule module;
  ShardedGraph sharded;
};

std::size_t count_calls(const Graph& graph, std::string_view op) {
  std::size_t count = 0;
  for (const NodeId id : graph.order()) count += graph.op(id).name == op ? 1 : 0;
  return count;
}

TEST_CASE("spmd graph: Megatron's pair reduces once, and keeps names and origins", "[mesh]") {
  const MeshGraph pair(R"(graph "pair" {
  %x = input f32[8, 4]
  %up = parameter f32[4, 16]
  %down = parameter f32[16, 4]
  %h = mm(%x, %up)  @"mlp.up" #3
  %a = silu(%h)
  %y = mm(%a, %down)  @"mlp.down" #4
  results %y
}
)",
                       "tp=4", "parameters\n  up [S(1)]\n  down [S(0)]\n");
  CHECK(print(pair.rank(2)) == R"(graph "pair" {
  %x = input f32[8, 4]
  %up = parameter f32[4, 4]
  %down = parameter f32[4, 4]
  %h = mm(%x, %up) : f32[8, 4]  @"mlp.up" #3
  %a = silu(%h) : f32[8, 4]
  %y = mm(%a, %down) : f32[8, 4]  @"mlp.down" #4
  %y_all_reduce = _c10d_functional.all_reduce(%y, "sum", "tp") : f32[8, 4]  @"mlp.down" #4
  %y_wait_tensor = _c10d_functional.wait_tensor(%y_all_reduce) : f32[8, 4]  @"mlp.down" #4
  results %y_wait_tensor
}
)");
}

TEST_CASE("spmd graph: an embedding whose rows are cut, without the whole table", "[mesh]") {
  const MeshGraph table(R"(graph "table" {
  %w = parameter f32[6, 2]
  %ids = input i64[3]
  %y = embedding(%w, %ids)
  results %y
}
)",
                        "tp=2", "parameters\n  w [S(0)]\n");
  const Graph rank = table.rank(1);
  for (const NodeId id : rank.order())
    for (const TensorType& type : rank[id].outputs) CHECK(element_count(type.shape) <= 6);
  const Inputs inputs = {
      {table.graph.find("w"),
       test::numbers(DType::f32, {6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
      {table.graph.find("ids"), test::numbers(DType::i64, {3}, {1, 4, 5})}};
  CHECK(test::numbers_of(table.gathered(inputs)) == std::vector<double>{2, 3, 8, 9, 10, 11});
}

// The mask is that of the whole graph, bit for bit, also where a dimension isn't cut evenly.
TEST_CASE("spmd graph: random numbers are those of the whole graph", "[mesh]") {
  for (const auto& [mesh, placements] :
       {std::pair{"a=1", "[S(0)]"}, std::pair{"a=4", "[S(0)]"},
        std::pair{"a=2,b=2", "[S(0), S(1)]"}, std::pair{"a=2,b=2", "[S(1), S(1)]"}}) {
    CAPTURE(mesh, placements);
    const MeshGraph dropout(R"(graph "dropout" {
  %x = input f32[5, 6]
  %d = native_dropout(%x, 0.5, true, draw=3)
  %y = getitem(%d, 0)
  %r = rand([5, 6], dtype=f32, draw=4)
  %z = add.Tensor(%y, %r)
  results %z
}
)",
                            mesh, std::string("inputs\n  x ") + placements + "\n");
    const auto inputs = inputs_from(dropout.graph, {}, 1).value();
    CHECK(bytes_of(dropout.gathered(inputs)) == bytes_of(dropout.whole(inputs)));
  }
}

TEST_CASE("spmd graph: numbers that follow from a seed are drawn part by part", "[mesh]") {
  for (const char* placements : {"[S(0)]", "[S(1)]"}) {
    CAPTURE(placements);
    const MeshGraph drawn(R"(graph "drawn" {
  %seed = input i64[]
  %x = input f32[8, 6]
  %r = prims.inductor_random([8, 6], %seed, "rand", offset=5)
  %y = mul.Tensor(%x, %r)
  results %y
}
)",
                          "a=4", std::string("inputs\n  x ") + placements + "\n");
    const auto inputs = inputs_from(drawn.graph, {}, 1).value();
    CHECK(bytes_of(drawn.gathered(inputs)) == bytes_of(drawn.whole(inputs)));
    const Graph rank = drawn.rank(3);
    std::vector<Shape> shapes;
    for (const NodeId id : rank.order())
      if (rank[id].op == Op::prims_inductor_random) shapes.push_back(rank.type(id).shape);
    CHECK(shapes == std::vector<Shape>{placements[3] == '0' ? Shape{2, 6} : Shape{8, 6}});
  }
}

TEST_CASE("spmd graph: every step of a redistribution has its calls", "[mesh]") {
  const char* const text = R"(graph "moves" {
  %x = input f32[13, 5, 6]
  %y = neg(%x)
  results %y
}
)";
  for (const char* mesh : {"a=2,b=3", "a=3,b=2"})
    for (const char* from : {"[S(0), S(0)]", "[S(1), S(2)]", "[R, S(0)]", "[S(2), R]", "[R, R]"})
      for (const char* to :
           {"[S(0), S(0)]", "[R, S(0)]", "[S(2), S(1)]", "[S(1), S(1)]", "[R, R]"}) {
        CAPTURE(mesh, from, to);
        const MeshGraph moves(text, mesh,
                              std::string("inputs\n  x ") + from + "\noutputs\n  y " + to + "\n");
        const auto inputs = inputs_from(moves.graph, {}, 1).value();
        CHECK(bytes_of(moves.gathered(inputs)) == bytes_of(moves.whole(inputs)));
      }
}

TEST_CASE("spmd graph: a reorder is one exchange over the joint group", "[mesh]") {
  const MeshGraph swapped(R"(graph "swapped" {
  %x = input f32[8, 8]
  %y = neg(%x)
  results %y
}
)",
                          "a=2,b=2", "inputs\n  x [S(0), S(0)]\noutputs\n  y [R, S(0)]\n");
  const Graph rank = swapped.rank(1);
  CHECK(count_calls(rank, "_c10d_functional.all_to_all_single") == 1);
  CHECK(count_calls(rank, "_c10d_functional.all_gather_into_tensor") == 1);
  const auto spmd = spmd_graph(swapped.module, swapped.sharded, 1);
  REQUIRE(spmd.ok());
  const auto group = spmd->groups.group_of("a_b", 1);
  REQUIRE(group.ok());
  CHECK(std::vector<std::int64_t>(group->begin(), group->end()) ==
        std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("spmd graph: ranks call the same collectives in the same order", "[mesh]") {
  const MeshGraph uneven(R"(graph "uneven" {
  %x = input f32[5, 6]
  %w = parameter f32[6, 7]
  %h = mm(%x, %w)
  %s = sum.dim_IntList(%h, [0])
  results %s, %h
}
)",
                         "a=4", "parameters\n  w [S(0)]\ninputs\n  x [S(0)]\n");
  const auto collectives = [&](std::int64_t position) {
    std::string text;
    const Graph graph = uneven.rank(position);
    for (const NodeId id : graph.order())
      if (graph.op(id).is(kCollective)) text += graph.node_name(id) + " ";
    return text;
  };
  CHECK_FALSE(collectives(0).empty());
  for (std::int64_t p = 1; p < 4; ++p) CHECK(collectives(p) == collectives(0));
}

TEST_CASE("spmd graph: a call that reads storage finds the layout of the whole graph", "[mesh]") {
  const MeshGraph strided(R"(graph "strided" {
  %x = input f32[4, 6]
  %t = permute(%x, [1, 0])
  %e = exp(%t)
  %y = as_strided(%e, [3, 5], [6, 1])
  results %y
}
)",
                          "a=2", "inputs\n  x [S(1)]\n");
  const auto inputs = inputs_from(strided.graph, {}, 1).value();
  CHECK(bytes_of(strided.gathered(inputs)) == bytes_of(strided.whole(inputs)));
}

}  // namespace
}  // namespace recut::mesh

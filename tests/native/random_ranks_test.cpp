// Random graphs over random meshes as compiled ranks: plan, schedule, program and machine code of
// each rank, at random budgets. The interpreter of the whole graph is the judge.
// RECUT_RANDOM_RANKS is the number of graphs, RECUT_RANDOM_SEED where the seeds begin.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "engine/ir/printer.h"
#include "engine/mesh/distributed_module.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/rank_execution.h"
#include "native/cpu/rank_code.h"
#include "tests/effort.h"
#include "tests/random/random_graph.h"
#include "tests/random/random_placements.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

Document document_for(Graph graph) {
  GraphFile file;
  file.graph = std::move(graph);
  OpenOptions options;
  options.passes.emplace();
  auto document = open_document_graph(std::move(file), "random", options);
  if (!document) FAIL(format(document.diagnostics()));
  return std::move(*document);
}

// None where an operator has no lowering, or the ranks' calls differ.
std::optional<RankSteps> compiled(const RankDocuments& documents, std::uint64_t seed) {
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  if (seed % 3 != 0) request.planning.budget = seed % 3 == 1 ? "80%" : "60%";
  auto steps = compile_ranks(documents, request, {});
  if (!steps) return std::nullopt;
  return std::move(*steps);
}

RankExecution execute(const mesh::DistributedModule& module, const mesh::ShardedGraph& sharded,
                      const RankDocuments& documents, const RankSteps& steps, std::uint64_t seed,
                      CollectiveMoment moment) {
  cpu::RankCode code(1);
  RankExecutionRequest request;
  request.prepare = [&](const Program& program, std::vector<Tensor> inputs) {
    return code.prepare(program, std::move(inputs));
  };
  request.seed = seed;
  request.steps = 1;
  request.moment = moment;
  request.check = moment == CollectiveMoment::start;
  request.keep_outputs = true;
  auto execution = run_sharded(module, sharded, documents, steps, request);
  if (!execution) FAIL(format(execution.diagnostics()));
  return std::move(*execution);
}

TEST_CASE("run: random graphs over random meshes", "[native][cpu][mesh][random]") {
  const char* const given = std::getenv("RECUT_RANDOM_RANKS");
  const char* const first = std::getenv("RECUT_RANDOM_SEED");
  const std::uint64_t count =
      given == nullptr ? test::tries(60) : std::strtoull(given, nullptr, 10);
  std::uint64_t ran = 0, refused = 0;
  for (std::uint64_t seed = first == nullptr ? 1 : std::strtoull(first, nullptr, 10); ran < count;
       ++seed) {
    test::Random random(seed);
    const Document document = document_for(test::random_graph(seed));
    const Graph& graph = document.graph();
    const auto mesh = mesh::DeviceMesh::parse(test::random_mesh(random));
    REQUIRE(mesh.ok());
    const std::string placements = test::random_placement_file(random, graph, *mesh);
    INFO("seed " << seed << ", mesh " << format(*mesh) << "\n" << placements << print(graph));
    mesh::DistributedModule module(graph, *mesh);
    REQUIRE(module.place(placements, "random").ok());
    const auto sharded = mesh::shard(module);
    REQUIRE(sharded.ok());
    const auto documents = shard_ranks(document, module, *sharded, "random");
    REQUIRE(documents.ok());
    const auto steps = compiled(*documents, seed);
    refused += steps ? 0 : 1;
    REQUIRE(refused <= ran / 4 + 5);
    if (!steps) continue;
    ++ran;
    const RankExecution execution =
        execute(module, *sharded, *documents, *steps, seed, CollectiveMoment::start);
    CHECK(execution.holds());
    CHECK(execution.unlike == "");
    const std::vector<bool> finite = test::finite_outputs(graph, seed);
    for (const OutputComparison& output : execution.accuracy.outputs) {
      INFO(accuracy_text(output));
      CHECK((output.ok() || !finite[output.position]));
    }
    // The same bits, whether a collective is computed at its start or at its wait.
    const RankExecution late =
        execute(module, *sharded, *documents, *steps, seed, CollectiveMoment::wait);
    CHECK(test::outputs_difference(execution.values, late.values) == "");
  }
  std::cout << "random ranks: " << ran << " ran, " << refused << " were refused\n";
}

}  // namespace
}  // namespace recut

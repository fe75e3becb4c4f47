// Random graphs over random meshes, with random placements of inputs and results: the ranks have the
// values of the whole graph. RECUT_RANDOM_GRAPHS and RECUT_RANDOM_SEED are as for random_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/mesh/sharding_text.h"
#include "engine/mesh/spmd/spmd_graph.h"
#include "engine/workspace/sharded_check.h"
#include "tests/effort.h"
#include "tests/random/random_graph.h"
#include "tests/random/random_placements.h"

namespace recut::test {
namespace {

std::uint64_t number_given(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// The invariants of every rank's graph.
std::string unsound_rank(const Graph& graph, const mesh::DeviceMesh& mesh,
                         const std::string& placements) {
  mesh::DistributedModule module(graph, mesh);
  if (const auto placed = module.place(placements, "random"); !placed)
    return format(placed.diagnostics());
  const auto sharded = mesh::shard(module);
  if (!sharded) return format(sharded.diagnostics());
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    const auto spmd = mesh::spmd_graph(module, *sharded, p);
    if (!spmd) return format(spmd.diagnostics());
    if (!verify(spmd->graph).empty()) return print(spmd->graph, verify(spmd->graph));
  }
  return "";
}

TEST_CASE("random: the ranks of a mesh have the values of the whole graph", "[random][mesh]") {
  const std::uint64_t first = number_given("RECUT_RANDOM_SEED", 1);
  const std::uint64_t count = number_given("RECUT_RANDOM_GRAPHS", tries(1000));
  std::size_t compared = 0, above_first = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const Graph graph = random_graph(seed);
    const auto mesh = mesh::DeviceMesh::parse(random_mesh(random));
    REQUIRE(mesh.ok());
    const std::string placements = random_placement_file(random, graph, *mesh);
    INFO("seed " << seed << ", mesh " << format(*mesh) << "\n" << placements << print(graph));
    const std::string unsound = unsound_rank(graph, *mesh, placements);
    if (!unsound.empty()) FAIL(unsound);
    const auto check = check_sharded(graph, {format(*mesh), {}, placements, "random"}, {}, seed);
    if (!check) FAIL(format(check.diagnostics()));
    const std::int64_t first = check->peak_bytes.front();
    if (*std::max_element(check->peak_bytes.begin(), check->peak_bytes.end()) > first)
      ++above_first;
    const std::vector<bool> finite = finite_outputs(graph, seed);
    for (const OutputComparison& output : check->outputs) {
      if (!finite[output.position]) continue;
      INFO(output.name << ": " << output.comparison.problem);
      CHECK(output.ok());
      compared += output.comparison.negligible ? 0 : 1;
    }
  }
  CHECK((count < 100 || compared > count));
  // The first rank has the largest peak, but where two parts that begin at 0 are one value there.
  CHECK(above_first * 200 <= count);
}

}  // namespace
}  // namespace recut::test

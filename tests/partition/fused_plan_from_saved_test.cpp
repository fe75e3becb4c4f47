// Plans from saved values in the fused model: PyTorch's partition with whole kernels.
#include "engine/partition/problem/fused_plan_from_saved.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <span>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "tests/effort.h"
#include "tests/paths.h"
#include "tests/random/random_graph.h"

namespace recut {
namespace {

struct FusedGraph {
  explicit FusedGraph(const Graph& of)
      : graph(of), storages(of), groups(fuse_pointwise(of, storages)) {}

  Replay replayed(const std::vector<NodeId>& wanted) const {
    return replayed(plan_from_saved(graph, storages, groups, wanted));
  }
  Replay replayed(const Plan& plan) const {
    auto found = replay(graph, storages, plan, {}, groups);
    if (!found) FAIL(format(found.diagnostics()));
    return std::move(*found);
  }

  const Graph& graph;
  const StorageModel storages;
  const FusionGroups groups;
};

TEST_CASE("saved sequence: whatever is wanted, kernels run whole and the plan runs",
          "[partition][random]") {
  std::mt19937_64 draw(7);
  for (std::uint64_t seed = 1; seed <= test::tries(150); ++seed) {
    CAPTURE(seed);
    const Graph graph = test::random_graph(seed);
    const FusedGraph fused(graph);
    if (!fused.groups.fused()) continue;
    const std::vector<bool> late = needs_tangent(graph);
    std::vector<NodeId> all, some;
    for (const NodeId id : graph.order()) {
      if (late[graph.position(id)] || graph.op(id).is(kInput)) continue;
      all.push_back(id);
      if (draw() % 2 == 0) some.push_back(id);
    }
    const Replay most = fused.replayed(all), between = fused.replayed(some),
                 least = fused.replayed(std::vector<NodeId>());
    CHECK(most.recomputed.empty());
    CHECK(between.step_us >= most.step_us);
    CHECK(least.step_us >= most.step_us);
  }
}

// The kernel makes a result or random numbers: its values are saved in any case.
bool runs_once(const FusedGraph& fused, NodeId call) {
  const std::int32_t group = fused.groups.group(call);
  const std::vector<NodeId> alone{call};
  const auto calls =
      group == FusionGroups::kAlone ? std::span<const NodeId>(alone) : fused.groups.members(group);
  return std::any_of(calls.begin(), calls.end(), [&](NodeId id) {
    const auto& results = fused.graph.results;
    return fused.graph.op(id).is(kImpure) ||
           std::any_of(results.begin(), results.end(),
                       [&](NodeId result) { return defining_node(fused.graph, result) == id; });
  });
}

TEST_CASE("saved sequence: PyTorch's choice is what the fused model keeps of it", "[partition]") {
  for (const char* name : {"tiny_conv", "tiny_mlp", "tiny_lm"}) {
    CAPTURE(name);
    const auto file =
        read_graph_file(std::string(RECUT_SOURCE_DIR "/samples/joint/") + name + ".json.gz");
    REQUIRE(file.ok());
    const Graph& graph = file->graph;
    const FusedGraph fused(graph);
    for (const double fraction : {1.0, 0.5, 0.0}) {
      CAPTURE(fraction);
      const auto eager = make_plan(graph, {"torch", SavedFraction{fraction}});
      const auto plan =
          make_plan(graph, {"torch", SavedFraction{fraction}, {}, {}, {}, fused.groups});
      REQUIRE(eager.ok());
      REQUIRE(plan.ok());
      std::vector<bool> chosen(fused.storages.size(), false);
      for (const NodeId id : eager->plan.saved)
        for (const StorageId storage : fused.storages.storages_of(id)) chosen[storage.index] = true;
      for (const NodeId id : plan->plan.saved)
        for (const StorageId storage : fused.storages.storages_of(id))
          CHECK((chosen[storage.index] || runs_once(fused, fused.storages[storage].owner)));
      CHECK(fused.replayed(plan->plan).peak_bytes > 0);
    }
  }
}

}  // namespace
}  // namespace recut

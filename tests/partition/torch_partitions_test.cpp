// Strategy `torch` against the partitions that PyTorch 2.11 itself chose, as the files record them.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "engine/input/graph_file_reader.h"
#include "tests/partition/joint_files.h"
#include "tests/partition/torch_choice.h"

namespace recut {
namespace {

// Microseconds may be this much more than PyTorch's.
constexpr double kTolerance = 1.02;

struct Pair {
  Plan plan;
  Replay figures;
};

Pair replayed(const Graph& graph, const StorageModel& storages, Plan plan) {
  auto figures = replay(graph, storages, plan);
  INFO((figures ? std::string() : format(figures.diagnostics())));
  REQUIRE(figures.ok());
  return {std::move(plan), std::move(*figures)};
}

// The partitioner knows the model's buffers, which are free to save; the files don't name them. They
// matter to one of the graphs.
std::vector<std::string> buffers_of(const Graph& graph) {
  if (graph.name == "cpu_bert") return {"primals_2", "primals_3"};
  return {};
}

void compare(const Graph& graph, const StorageModel& storages, const TorchPartition& partition) {
  PlanRequest request = torch_request(partition);
  request.torch.static_inputs = buffers_of(graph);
  const auto outcome = make_plan(graph, request);
  REQUIRE(outcome.ok());
  const Pair ours = replayed(graph, storages, outcome->plan);
  const Pair theirs = replayed(graph, storages, plan_of(graph, partition));
  CHECK(saved_storages(storages, ours.plan) == saved_storages(storages, theirs.plan));
  CHECK(ours.figures.recompute_us <= kTolerance * theirs.figures.recompute_us);
}

TEST_CASE("torch: saves what PyTorch saved", "[partition]") {
  for (const std::string& path : joint_files()) {
    const auto file = read_graph_file(path, "joint_after_passes");
    REQUIRE(file.ok());
    const StorageModel storages(file->graph);
    for (const TorchPartition& partition : file->partitions) {
      if (!partition.budget || partition.saved.empty()) continue;
      INFO(std::filesystem::path(path).filename() << " at budget " << *partition.budget);
      compare(file->graph, storages, partition);
    }
  }
}

// PyTorch's default divides before equal nodes are merged, so that its backward has copies of cheap
// forward nodes. In Recut's graphs such a copy is the forward node itself: ours saves it, or what
// comes of it, and computes nothing again.
TEST_CASE("default: computes nothing twice, and saves about what PyTorch's saves", "[partition]") {
  for (const std::string& path : joint_files()) {
    const auto file = read_graph_file(path, "joint_after_passes");
    REQUIRE(file.ok());
    const StorageModel storages(file->graph);
    for (const TorchPartition& partition : file->partitions) {
      if (partition.budget || partition.saved.empty()) continue;
      INFO(std::filesystem::path(path).filename());
      const auto outcome = make_plan(file->graph, {"default", NoBudget{}});
      REQUIRE(outcome.ok());
      const Pair ours = replayed(file->graph, storages, outcome->plan);
      const Pair theirs = replayed(file->graph, storages, plan_of(file->graph, partition));
      CHECK(static_cast<double>(ours.figures.saved_bytes) <=
            1.25 * static_cast<double>(theirs.figures.saved_bytes));
      CHECK(ours.figures.recomputed.empty());
    }
  }
}

TEST_CASE("every strategy plans the graph before the passes too", "[partition]") {
  for (const std::string& path : joint_files()) {
    const auto file = read_graph_file(path);
    REQUIRE(file.ok());
    for (const PlanRequest& request :
         {PlanRequest{"default", NoBudget{}}, PlanRequest{"torch", NoBudget{}},
          PlanRequest{"torch", SavedFraction{0.4}}, PlanRequest{"torch", SavedFraction{0}}}) {
      INFO(std::filesystem::path(path).filename() << ", strategy " << request.strategy);
      const auto outcome = make_plan(file->graph, request);
      REQUIRE(outcome.ok());
      CHECK(replay(file->graph, outcome->plan).ok());
    }
  }
}

}  // namespace
}  // namespace recut

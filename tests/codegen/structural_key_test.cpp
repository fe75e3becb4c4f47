// Kernels with equal structural keys are equal: programs rely on it to lower a layer once.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>

#include "engine/codegen/loop/printer.h"
#include "engine/codegen/lower/structural_key.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file_reader.h"
#include "tests/codegen/run_kernels.h"
#include "tests/effort.h"
#include "tests/paths.h"
#include "tests/random/random_graph.h"

namespace recut::test {
namespace {

// By key: the loops, and the positions of their buffers among the key's nodes.
class StructureLowered {
 public:
  int shared = 0;

  void add(const Graph& graph, const FusionGroups& groups) {
    const StorageModel storages(graph);
    for (const auto& calls : kernels_of(graph, groups)) {
      const auto kernel = loop::lower(graph, storages, groups, calls);
      if (!kernel) continue;
      const loop::StructuralKey structure = loop::structural_key_of(graph, storages, groups, calls);
      const std::string text = text_of(*kernel, structure);
      const auto [known, added] = texts_.emplace(structure.key, text);
      shared += added ? 0 : 1;
      CHECK(known->second == text);
    }
  }

 private:
  static std::string text_of(const loop::LoweredKernel& lowered,
                             const loop::StructuralKey& structure) {
    std::string text = loop::print(loop::strip_names(lowered.kernel));
    for (const loop::BufferSource& source : lowered.sources) {
      const auto node = std::find(structure.nodes.begin(), structure.nodes.end(), source.node);
      text += std::to_string(node - structure.nodes.begin()) + "." + std::to_string(source.output);
      REQUIRE(node != structure.nodes.end());
      text += "\n";
    }
    return text;
  }

  std::map<std::string, std::string> texts_;
};

std::vector<std::filesystem::path> samples() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(RECUT_SOURCE_DIR "/samples"))
    if (entry.path().extension() == ".recut" || entry.path().extension() == ".gz")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_CASE("structural keys: equal keys give equal kernels, in all samples", "[codegen]") {
  StructureLowered lowered;
  for (const auto& path : tried(samples())) {
    const auto file = read_graph_file(path.string());
    if (!file) continue;
    INFO(path.string());
    const StorageModel storages(file->graph);
    lowered.add(file->graph, FusionGroups());
    lowered.add(file->graph, fuse_pointwise(file->graph, storages));
  }
  CHECK(lowered.shared > 10);
}

TEST_CASE("structural keys: equal keys give equal kernels, in random graphs", "[codegen]") {
  StructureLowered lowered;
  for (std::uint64_t seed = 0; seed < tries(800); ++seed) {
    const Graph graph = random_graph(seed);
    INFO("seed " << seed);
    lowered.add(graph, fuse_pointwise(graph, StorageModel(graph)));
  }
  CHECK(lowered.shared > 0);
}

}  // namespace recut::test

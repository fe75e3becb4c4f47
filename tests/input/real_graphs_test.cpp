// Graphs of real models: read, and sound.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/paths.h"

namespace recut {
namespace {

GraphFile read_real(const std::string& path, std::string_view key) {
  auto file = read_graph_file(path, key);
  INFO((file ? std::string() : format(file.diagnostics())));
  REQUIRE(file.ok());
  return std::move(*file);
}

int count_inputs(const Graph& graph, InputKind kind) {
  int count = 0;
  for (const NodeId id : graph.inputs()) count += graph.input_kind(id) == kind ? 1 : 0;
  return count;
}

TEST_CASE("gpt2: graph, partitions and facts") {
  const GraphFile file = read_real(RECUT_SOURCE_DIR "/samples/joint/gpt2.json.gz", "joint");
  CHECK(file.model == "gpt2");
  CHECK(file.graph.name == "gpt2");
  CHECK(file.graph.device == "cuda");
  CHECK(file.torch_version == "2.11.0+cu130");
  CHECK_FALSE(file.amp);
  CHECK(file.key == "joint");
  CHECK(file.graph_keys == std::vector<std::string>{"joint", "joint_after_passes"});
  CHECK(file.joint_passes_seconds > 0);
  CHECK(file.joint_passes_seconds_warm > 0);
  REQUIRE(file.partitions.size() == 9);
  CHECK_FALSE(file.partitions[0].budget.has_value());
  CHECK(file.partitions[1].budget == 1.0);
  CHECK(file.partitions[8].budget == 0.0);
  CHECK(file.partitions[8].seconds > 0);
  CHECK_FALSE(file.partitions[8].saved.empty());
  CHECK(file.graph.results.size() == 1);
  CHECK(file.graph.gradients.size() == file.graph.inputs().size() - 1);
  CHECK(count_inputs(file.graph, InputKind::tangent) == 1);
  CHECK(count_inputs(file.graph, InputKind::input) == 1);
  // Every node of the file is a node or another name of one; the node `output` is neither.
  CHECK(file.graph.order().size() + file.graph.aliases().size() == 2597);
  const NodeId node = file.graph.find("addmm");
  CHECK_FALSE(file.graph.origin(node).module.empty());
  CHECK(file.graph.origin(node).seq_nr > 0);
}

TEST_CASE("samples: both graphs of each file are sound, and survive the text form") {
  for (const auto& entry : std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/samples/joint")) {
    if (entry.path().extension() != ".gz") continue;
    for (const std::string_view key : {"joint", "joint_after_passes"}) {
      INFO(entry.path().string() << " " << key);
      const GraphFile file = read_real(entry.path().string(), key);
      CHECK(verify(file.graph).empty());
      const std::string printed = print(file.graph);
      const auto again = parse_graph_text(printed, "printed");
      REQUIRE(again.ok());
      CHECK(print(*again) == printed);
    }
  }
}

TEST_CASE("all shared graphs are sound") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/graphs";
  if (!std::filesystem::exists(folder)) SKIP("there is no folder ../shared/graphs");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gz") continue;
    for (const std::string_view key : {"joint", "joint_after_passes"}) {
      INFO(entry.path().string() << " " << key);
      CHECK(verify(read_real(entry.path().string(), key).graph).empty());
    }
  }
}

}  // namespace
}  // namespace recut

// The forward graphs in samples/blocks: each one reads, is sound, prints as it reads, runs before
// and after the passes to the same values, and says in its first lines what it shows.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/passes/bisect.h"
#include "engine/workspace/document.h"
#include "engine/workspace/open_document.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

std::vector<std::string> block_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/samples/blocks"))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_CASE("blocks: forward graphs in text read, run and keep their values") {
  const auto paths = block_paths();
  REQUIRE(paths.size() >= 6);
  for (const std::string& path : paths) {
    DYNAMIC_SECTION(std::filesystem::path(path).filename().string()) {
      std::string first;
      std::ifstream file(path);
      std::getline(file, first);
      CHECK(first.starts_with("; "));
      const auto document = open_document(path, {});
      INFO((document ? std::string() : format(document.diagnostics())));
      REQUIRE(document.ok());
      const Graph& graph = document->file.graph;
      CHECK(verify(graph).empty());
      CHECK(graph.gradients.empty());
      CHECK_FALSE(check_joint(*document, path).ok());
      const std::string printed = print(graph);
      CHECK(print(*parse_graph_text(printed, path)) == printed);
      const auto check = same_values_check(graph, {}, 1);
      REQUIRE(check.ok());
      CHECK(*(*check)(document->graph()));
    }
  }
}

}  // namespace
}  // namespace recut::test

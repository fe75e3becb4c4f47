// The scenarios of tests/gui/scenarios against the null backend; CMakeLists.txt runs the same ones
// against the real window where there is a screen.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/bytes.h"
#include "tests/effort.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

TEST_CASE("scenarios: each on the null backend", "[gui]") {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(RECUT_SOURCE_DIR "/tests/gui/scenarios"))
    paths.push_back(entry.path().string());
  REQUIRE_FALSE(paths.empty());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : test::tried(paths)) {
    DYNAMIC_SECTION(fs::path(path).filename().string()) {
      const auto script = read_file(path);
      REQUIRE(script.ok());
      Window window(bare_options());
      CHECK(window.play(*script, path) == "");
    }
  }
}

}  // namespace
}  // namespace recut::gui

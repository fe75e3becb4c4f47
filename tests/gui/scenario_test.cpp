// The scenarios of tests/gui/scenarios against the null backend; CMakeLists.txt runs the same ones
// against the real window where there is a screen.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "engine/input/bytes.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

TEST_CASE("scenarios: each on the null backend", "[gui]") {
  namespace fs = std::filesystem;
  int played = 0;
  for (const auto& entry : fs::directory_iterator(RECUT_SOURCE_DIR "/tests/gui/scenarios")) {
    const std::string path = entry.path().string();
    DYNAMIC_SECTION(entry.path().filename().string()) {
      const auto script = read_file(path);
      REQUIRE(script.ok());
      Window window(bare_options());
      CHECK(window.play(*script, path) == "");
    }
    ++played;
  }
  CHECK(played > 0);
}

}  // namespace
}  // namespace recut::gui

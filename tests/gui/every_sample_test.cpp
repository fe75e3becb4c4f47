// Every panel draws every sample of the repository, in both themes, as it comes and with something
// selected.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

// Under the sanitizers planning a large graph takes minutes, and says nothing new of the panels.
#ifdef NDEBUG
constexpr std::uintmax_t kMostBytes = UINTMAX_MAX;
#else
constexpr std::uintmax_t kMostBytes = 20'000;
#endif

std::vector<std::string> all_samples() {
  std::vector<std::string> paths;
  for (const char* folder : {"/samples", "/samples/joint"})
    for (const auto& entry :
         std::filesystem::directory_iterator(RECUT_SOURCE_DIR + std::string(folder))) {
      const std::string extension = entry.path().extension().string();
      if ((extension == ".recut" || extension == ".gz") && entry.file_size() <= kMostBytes)
        paths.push_back(entry.path().string());
    }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void draw_all_panels(Window& window) {
  for (const Panel& panel : window.app.panels) {
    CAPTURE(panel.id);
    (void)window.app.run("panel.show", panel.id);  // those that always stand have nothing to show
    window.app.want_frames();
    const int before = window.app.frames();
    window.tick();
    CHECK(window.app.frames() > before);
    CHECK(window.backend.vertices > 0);
  }
}

TEST_CASE("window: every panel draws every sample", "[gui]") {
  const std::vector<std::string> samples = all_samples();
  REQUIRE(samples.size() >= 6);
  for (const std::string& path : samples) {
    CAPTURE(path);
    Window window(bare_options());
    window.app.open(path);
    window.settle();
    REQUIRE(window.app.has_ready());
    for (const char* theme : {"dark", "light"}) {
      REQUIRE(window.app.run("theme.set", theme).ok());
      draw_all_panels(window);
    }
    const Graph& graph = window.app.document()->graph();
    REQUIRE(window.app.run("select.node", graph.node_name(graph.order().back())).ok());
    draw_all_panels(window);
    window.settle();
  }
}

}  // namespace
}  // namespace recut::gui

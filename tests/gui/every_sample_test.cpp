// Every panel draws every sample of the repository, in both themes, as it comes and with something
// selected, and what it draws is the sample's.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/units.h"
#include "gui/draw/ui.h"
#include "tests/effort.h"
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

// Words of which some must stand in every panel that speaks of the document.
std::vector<std::string> facts_of(const DocumentView& document) {
  const PlanReport& report = document.shown->report();
  std::vector<std::string> facts{format_bytes(report.peak_bytes), format_micros(report.step_us),
                                 format_count(static_cast<std::int64_t>(report.timeline.size())),
                                 format_count(report.recomputed_runs) + " runs", document.title};
  for (const auto& pass : document.document->passes.passes) facts.emplace_back(pass.name);
  for (const NodeId node : document.graph().order())
    facts.push_back(document.graph().node_name(node));
  return facts;
}

bool says(const Item& item, const std::vector<std::string>& facts) {
  const std::string text = item.label.substr(item.label.find('/') + 1) + " " + item.value;
  return std::any_of(facts.begin(), facts.end(),
                     [&](const std::string& fact) { return text.find(fact) != std::string::npos; });
}

// Items of the panel that can be seen, and whether one of them says something of the document.
struct Seen {
  int items = 0;
  bool fact = false;
};
Seen seen_in(const Window& window, std::string_view panel, const std::vector<std::string>& facts) {
  Seen seen;
  for (const Item& item : window.app.items.all()) {
    if (!item.visible() || item.label.rfind(std::string(panel) + "/", 0) != 0) continue;
    ++seen.items;
    seen.fact = seen.fact || says(item, facts);
  }
  return seen;
}

// `selected`: with a value selected, without which its details have nothing to say.
void draw_all_panels(Window& window, bool selected) {
  const std::vector<std::string> facts = facts_of(*window.app.document());
  for (const Panel& panel : window.app.panels) {
    CAPTURE(panel.id, selected);
    if (panel.window_state != WindowState::open || panel.dock == Dock::floating)
      continue;  // floating panels have tests of their own
    if (panel.dock == Dock::overlay) window.app.overlay = std::string(panel.id);
    if (panel.dock != Dock::overlay) (void)window.app.run("panel.show", panel.id);
    window.settle();
    window.app.want_frames();
    window.tick();
    const Seen seen = seen_in(window, panel.id, facts);
    const bool of_document = panel.dock != Dock::overlay && panel.id != "check";
    if (panel.id != "details" || selected) {
      CHECK(seen.items > 0);
      if (of_document) CHECK(seen.fact);
    }
    window.app.overlay.clear();
  }
}

TEST_CASE("window: every panel draws every sample", "[gui]") {
  const std::vector<std::string> samples = all_samples();
  REQUIRE(samples.size() >= 6);
  for (const std::string& path : test::tried(samples)) {
    CAPTURE(path);
    Window window(bare_options());
    window.app.open(path);
    window.settle();
    REQUIRE(window.app.has_ready());
    for (const char* theme : {"dark", "light"}) {
      REQUIRE(window.app.run("theme.set", theme).ok());
      draw_all_panels(window, false);
    }
    const Graph& graph = window.app.document()->graph();
    REQUIRE(window.app.run("select.node", graph.node_name(graph.order().back())).ok());
    draw_all_panels(window, true);
    window.settle();
  }
}

}  // namespace
}  // namespace recut::gui

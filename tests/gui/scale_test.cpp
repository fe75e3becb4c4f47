// Tables keep their names at every scale, in windows of usual sizes.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr std::size_t kLongName = 20;  // longer ones are cut at their beginning

// Names of the graph's nodes and of passes, and the words of the legend.
std::set<std::string> names_to_keep(const DocumentView& document) {
  std::set<std::string> names{"as read",    "plan",  "runs at",          "saved",
                              "recomputed", "freed", "freed in forward", "result"};
  const Graph& graph = document.graph();
  for (const NodeId id : graph.order())
    if (graph.node_name(id).size() <= kLongName) names.insert(graph.node_name(id));
  for (const PassReport& pass : document.document->passes.passes) {
    std::string title = pass.name;
    std::replace(title.begin(), title.end(), '_', ' ');
    names.insert(title);
  }
  return names;
}

// Names that a panel shows with "…".
std::string cut_names(const Window& window, const std::string& panel) {
  const std::set<std::string> names = names_to_keep(*window.app.document());
  std::string cut;
  for (const std::string& text : window.app.items.cut_texts(panel))
    if (names.count(text) == 1) cut += panel + ": " + text + "\n";
  return cut;
}

void show_and_check(Window& window, const std::string& panel) {
  REQUIRE(window.app.run("panel.show", panel).ok());
  window.settle();
  CHECK(cut_names(window, panel) == "");
}

}  // namespace

TEST_CASE("scale: names are whole from 100 to 200 %", "[scale]") {
  for (const Extent extent : {Extent{1280, 800}, Extent{1680, 1050}})
    for (const float scale : {1.0f, 1.5f, 2.0f}) {
      CAPTURE(extent.width, scale);
      NullBackend backend = Window::sample_backend();
      backend.resize(extent, scale);
      Window window(bare_options(), std::move(backend));
      window.app.items.keep_texts = true;
      window.app.open("sample:tiny_conv");
      window.settle();
      REQUIRE(window.app.run("budget.set", "60%").ok());
      const DocumentView& document = *window.app.document();
      const std::string name = document.graph().node_name(document.shown->replay().steps[0].node);
      REQUIRE(window.app.run("values.select", name).ok());
      window.settle();
      show_and_check(window, "values");
      show_and_check(window, "transforms");
    }
}

TEST_CASE("scale: what is cut is known to tests, whole", "[scale]") {
  Window window(bare_options());
  window.app.items.keep_texts = true;
  window.backend.resize({120, 600}, 1);
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("panel.show", "transforms").ok());
  window.settle();
  CHECK_FALSE(window.app.items.cut_texts("transforms").empty());
  CHECK(window.app.items.cut_texts("no such panel").empty());
}

}  // namespace recut::gui

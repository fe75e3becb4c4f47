// What is kept from one start to the next: of a document one JSON value, of the window a file.
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "gui/app/workspace_file.h"
#include "gui/canvas/canvas.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

SavedDocument some_document() {
  SavedDocument document;
  document.path = "models/a b.json.gz";
  document.plan_settings.budget_bytes = 123'456'789'012;
  document.plan_settings.device = "h100";
  document.plan_settings.cost_model = "fused";
  document.plan_settings.overrides = {{"relu", "mm \"3\""}, {"add"}};
  document.selected = "relu";
  document.pass = 2;
  document.view.camera = SavedView::Camera{-12.5, 1e6, 0.25};
  document.view.open = {{0, 1, std::numeric_limits<std::uint64_t>::max()}};
  return document;
}

TEST_CASE("workspace: a document comes back from its text as it was", "[gui]") {
  const std::string text = write_document(some_document());
  CHECK(text.find('\n') == std::string::npos);
  const SavedDocument read = read_document(text);
  CHECK(read.plan_settings == some_document().plan_settings);
  REQUIRE(read.view.camera.has_value());
  CHECK(read.view.camera->zoom == 0.25);
  CHECK(read.view.open == some_document().view.open);
  CHECK(read.pass == 2);
  CHECK(write_document(read) == text);

  SavedDocument plain;
  plain.path = "x";
  CHECK(write_document(plain).find("view") == std::string::npos);
  CHECK(write_document(read_document(write_document(plain))) == write_document(plain));
}

TEST_CASE("workspace: what is damaged in a document is passed over, the rest stays", "[gui]") {
  for (const char* text : {"", "[]", "5", "{\"path\": \"x\"", R"({"path": 5, "view": 3})",
                           R"({"path": "", "pass": -1, "view": {"camera": [], "open": {}}})"})
    CHECK(read_document(text).path.empty());
  const SavedDocument read = read_document(
      R"({"path": "x", "pass": 1.5, "selected": [1], "budget_bytes": -4, "save": [1, "relu"],
          "view": {"camera": {"x": 1, "y": 2, "zoom": 0},
                   "open": ["00000000000000ff", "ff", "zz00000000000000", 7]}})");
  CHECK(read.path == "x");
  CHECK_FALSE(read.pass.has_value());
  CHECK(read.plan_settings.budget_bytes == 0);
  CHECK(read.plan_settings.overrides.save == std::vector<std::string>{"relu"});
  CHECK_FALSE(read.view.camera.has_value());
  CHECK(read.view.open == std::vector<std::uint64_t>{0xff});
}

const Canvas& canvas_in(Window& window) { return canvas_of(window.app.document()->memories); }

std::size_t open_groups(Window& window) {
  const Canvas& canvas = canvas_in(window);
  std::size_t open = 0;
  for (const layout::Group& group : canvas.picture->whole->groups)
    open += canvas.picture->expansion.is_open(group) ? 1 : 0;
  return open;
}

TEST_CASE("workspace: open groups and the camera come back, with the selection", "[gui]") {
  Camera left;
  std::size_t groups = 0;
  NullBackend backend = Window::sample_backend();
  AppOptions options;
  options.welcome = false;
  {
    Window window(options, backend);
    window.app.open("sample:tiny_conv");
    window.settle();
    REQUIRE(window.app.run("select.node", "relu").ok());
    REQUIRE(window.app.run("pass.set", "1").ok());
    window.settle();
    REQUIRE(window.app.run("graph.expand_all").ok());
    window.settle();
    REQUIRE(window.app.run("graph.zoom", "150").ok());
    window.settle();
    left = canvas_in(window).camera;
    groups = open_groups(window);
    window.app.save_workspace();
    backend.stored = window.backend.stored;
  }
  Window again({}, backend);
  again.settle();
  CHECK(again.state("selection") == "relu");
  CHECK(again.state("pass") == "1");
  CHECK(canvas_in(again).camera == left);
  CHECK(open_groups(again) == groups);
  again.app.save_workspace();
  CHECK(again.backend.stored == backend.stored);

  // As it is read again after F5, too.
  REQUIRE(again.app.run("file.reload").ok());
  again.settle();
  CHECK(canvas_in(again).camera == left);
  CHECK(open_groups(again) == groups);
}

TEST_CASE("workspace: a camera that sees nothing of the graph is placed anew", "[gui]") {
  NullBackend backend = Window::sample_backend();
  for (const char* camera :
       {R"({"x": 1e9, "y": 0, "zoom": 1})", R"({"x": 0, "y": 0, "zoom": 1e9})"}) {
    backend.stored["workspace"] =
        R"({"version": 1, "documents": [{"path": "sample:tiny_conv", "view": {"camera": )" +
        std::string(camera) + R"(, "open": ["0123456789abcdef"]}}]})";
    Window window({}, backend);
    window.settle();
    const Canvas& canvas = canvas_in(window);
    CHECK(canvas.placed);
    CHECK(canvas.view().visible().overlaps(canvas.picture->layout.bounds));
    CHECK(open_groups(window) == 1);  // the root: no group has that key
  }
}

}  // namespace
}  // namespace recut::gui

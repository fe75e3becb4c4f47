// Two linked panes on the null backend: what moves along, what is selected in both, what differs.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "gui/app/panes_view.h"
#include "gui/canvas/canvas.h"
#include "tests/effort.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct PanesWindow : Window {
  explicit PanesWindow(const char* with) : Window(bare_options()) {
    app.open("sample:tiny_conv");
    settle();
    run("budget.set", "60%");
    if (std::string(with).rfind("document", 0) == 0) {
      app.open("sample:mlp");
      settle();
    }
    run("compare.panes", with);
  }

  DocumentView& document() { return *app.document(); }
  Canvas& canvas(Pane pane) { return canvas_of(document().memories, pane); }
  const PanesView& view() { return panes_view(document()); }
  const Comparison& comparison() { return *view().comparison; }

  void run(std::string_view command, std::string_view argument = {}) {
    const Result<Done> done = app.run(command, argument);
    if (!done) FAIL(command << ": " << done.diagnostics().front().message);
    settle();
  }
  // The middle of a node's box on the screen, from the corner of its pane.
  ImVec2 place(Pane pane, NodeId node) {
    const Canvas& c = canvas(pane);
    const layout::BoxId box = c.picture->box(node);
    REQUIRE(box.valid());
    const ImVec2 at = c.view().at(c.picture->layout.boxes[box.index].rect).centre();
    return {at.x - c.area.left, at.y - c.area.top};
  }
  bool side_by_side(NodeId node) {
    const NodeId partner = comparison().here.partner(node);
    REQUIRE(partner.valid());
    const ImVec2 here = place(Pane::here, node), there = place(Pane::there, partner);
    // Panes differ by the pixel of the line between them.
    return std::abs(here.x - there.x) <= 2 && std::abs(here.y - there.y) <= 1;
  }
  // A node that both have, not the first.
  NodeId shared() {
    NodeId found;
    for (const NodeId id : document().graph_at_pass().order())
      if (const NodeId partner = comparison().here.partner(id);
          partner.valid() && comparison().there.partner(partner) == id)
        found = id;
    return found;
  }
};

TEST_CASE("panes: what is selected stands side by side, wherever it was selected", "[gui]") {
  for (const char* with : test::tried<const char*>({"unplanned", "pass 0", "document 1"})) {
    CAPTURE(with);
    PanesWindow window(with);
    const NodeId node = window.shared();
    REQUIRE(node.valid());
    window.run("select.node", window.document().graph_at_pass().node_name(node));
    CHECK(window.side_by_side(node));
    const NodeId partner = window.comparison().here.partner(node);
    CHECK(selected_there(window.view(), window.document()) == partner);

    window.run("select.clear");
    CHECK_FALSE(selected_there(window.view(), window.document()).valid());
    window.run("compare.select", window.comparison().there.shown.graph().node_name(partner));
    CHECK(window.document().selection.node == node);
    CHECK(window.side_by_side(node));
  }
}

TEST_CASE("panes: either one moves the other", "[gui]") {
  for (const char* with : {"unplanned", "pass 0"}) {
    CAPTURE(with);
    PanesWindow window(with);
    const NodeId node = window.shared();
    window.run("select.node", window.document().graph_at_pass().node_name(node));
    for (const Pane pane : {Pane::here, Pane::there}) {
      Canvas& moved = window.canvas(pane);
      const ImVec2 before =
          window.place(pane, pane == Pane::here ? node : window.comparison().here.partner(node));
      Camera camera = moved.at;
      camera.y -= 40;
      jump(moved, camera);
      window.app.want_frames();
      window.settle();
      const ImVec2 after =
          window.place(pane, pane == Pane::here ? node : window.comparison().here.partner(node));
      CHECK(after.y > before.y + 10);
      CHECK(window.side_by_side(node));
      CHECK(window.canvas(Pane::here).at.zoom == window.canvas(Pane::there).at.zoom);
    }
  }
}

TEST_CASE("panes: groups open and close in both", "[gui]") {
  for (const char* with : test::tried<const char*>({"unplanned", "pass 0", "document 1"})) {
    CAPTURE(with);
    PanesWindow window(with);
    window.run("graph.expand_all");
    for (const Pane pane : {Pane::here, Pane::there})
      for (const layout::Box& box : window.canvas(pane).picture->layout.boxes)
        CHECK(box.node.valid());
    window.run("graph.collapse_all");
    for (const Pane pane : {Pane::here, Pane::there})
      CHECK(window.canvas(pane).picture->layout.bands.size() == 1);
    const layout::Scene& scene = *window.canvas(Pane::here).picture->whole;
    for (const layout::Group& group : scene.groups) {
      if (!group.parent.valid() || group.depth > 1) continue;
      window.run("graph.toggle", std::to_string(group.key));
      for (const Pane pane : {Pane::here, Pane::there})
        CHECK(window.canvas(pane).expansion->is_open(group));
      break;
    }
  }
}

TEST_CASE("panes: the neighbourhood of the partner, and one pane again", "[gui]") {
  PanesWindow window("pass 0");
  const NodeId node = window.shared();
  window.run("select.node", window.document().graph_at_pass().node_name(node));
  window.run("graph.focus", "2");
  CHECK(window.canvas(Pane::there).focus.node == window.comparison().here.partner(node));
  CHECK(window.canvas(Pane::there).picture->focus.node.valid());
  window.run("graph.leave_focus");
  CHECK_FALSE(window.canvas(Pane::there).focus.node.valid());
  window.run("compare.panes");
  CHECK_FALSE(has_panes(window.document()));
  CHECK(find_panes_view(window.document()) == nullptr);
  window.run("compare.panes");
  CHECK(window.canvas(Pane::there).picture != nullptr);
}

TEST_CASE("panes: the way through the differences comes round, both ways", "[gui]") {
  for (const char* with : test::tried<const char*>({"unplanned", "pass 0", "document 1"})) {
    CAPTURE(with);
    PanesWindow window(with);
    const std::size_t all = window.comparison().steps.size();
    REQUIRE(all > 1);
    for (std::size_t i = 0; i < all; ++i) {
      window.run("compare.next");
      CHECK(selected_step(window.view(), window.document()) == i);
      const ComparisonStep& step = window.comparison().steps[i];
      const Pane pane = step.here.valid() ? Pane::here : Pane::there;
      const NodeId node = step.here.valid() ? step.here : step.there;
      CHECK(window.canvas(pane).picture->own_box(node).valid());
    }
    window.run("compare.next");
    CHECK(selected_step(window.view(), window.document()) == 0u);
    window.run("compare.previous");
    CHECK(selected_step(window.view(), window.document()) == all - 1);
  }
}

TEST_CASE("panes: what was compared may go away", "[gui]") {
  PanesWindow window("document 1");
  window.run("compare.next");
  window.app.close_document(1);
  window.app.want_frames();
  window.settle();
  CHECK(window.state("panes") == "yes");
  for (const char* command : {"compare.next", "compare.previous", "graph.fit", "graph.expand_all"})
    (void)window.app.run(command);
  window.settle();
  window.run("compare.panes");
  CHECK(window.state("panes") == "no");
}

}  // namespace
}  // namespace recut::gui

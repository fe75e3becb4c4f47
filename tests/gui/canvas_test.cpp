// The graph panel on the null backend: what moves, what stays, what can be seen.
#include "gui/canvas/canvas.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/ir/printer.h"
#include "gui/canvas/box_labels.h"
#include "gui/canvas/walk.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct CanvasWindow : Window {
  explicit CanvasWindow(const std::string& path = "sample:tiny_conv",
                        NullBackend given = Window::sample_backend())
      : Window(bare_options(), std::move(given)) {
    app.open(path);
    settle();
  }

  DocumentView& document() { return *app.document(); }
  Canvas& canvas() { return canvas_of(document().memories); }
  const Picture& picture() { return *canvas().picture; }

  void run(std::string_view command, std::string_view argument = {}) {
    const Result<Done> done = app.run(command, argument);
    if (!done) FAIL(command << ": " << done.diagnostics().front().message);
    settle();
  }
  // Where a node's box stands on the screen.
  ImVec2 place(NodeId node) {
    const layout::BoxId box = picture().box(node);
    REQUIRE(box.valid());
    return canvas().view().at(picture().layout.boxes[box.index].rect).corner();
  }
  bool in_sight(NodeId node) {
    const layout::BoxId box = picture().own_box(node);
    return box.valid() && canvas().area.contains(
                              canvas().view().at(picture().layout.boxes[box.index].rect).centre());
  }
  NodeId node(const std::string& name) { return document().graph_at_pass().find(name); }
  void press(ImVec2 at, int button = 0) {
    backend.give(PointerMoved{at.x, at.y});
    tick();
    backend.give(PointerButton{button, true});
    tick();
    backend.give(PointerButton{button, false});
    settle();
  }
};

bool near(ImVec2 a, ImVec2 b, float pixels = 1) {
  return std::abs(a.x - b.x) <= pixels && std::abs(a.y - b.y) <= pixels;
}

NullBackend backend_with(const std::string& text) {
  NullBackend backend;
  backend.files["made.recut"] = text;
  return backend;
}

TEST_CASE("canvas: the picture comes from a job, readable and from the top", "[gui][canvas]") {
  CanvasWindow window;
  REQUIRE(window.canvas().picture != nullptr);
  CHECK(window.canvas().pictures == 1);
  CHECK(window.canvas().at.zoom >= 0.5);
  CHECK(window.picture().layout.boxes.size() > 3);
  CHECK_FALSE(window.tick());  // and then it rests
}

TEST_CASE("canvas: what another panel selects comes into view, out of closed groups",
          "[gui][canvas]") {
  CanvasWindow window;
  window.run("graph.collapse_all");
  for (const NodeId node : window.document().graph().order()) {
    window.run("select.node", window.document().graph().node_name(node));
    CAPTURE(window.document().graph().node_name(node));
    CHECK(window.in_sight(node));
  }
}

TEST_CASE("canvas: from pass to pass the selected node stays where it is", "[gui][canvas]") {
  for (const char* sample : {"sample:tiny_conv", "sample:tiny_ops", "sample:mlp"}) {
    CanvasWindow window(sample);
    window.run("graph.expand_all");
    const std::size_t passes = window.document().document->passes.passes.size();
    REQUIRE(passes > 0);
    const Graph& last = window.document().graph();
    const NodeId selected = last.results.front();
    window.run("select.node", last.node_name(selected));
    for (std::size_t pass = passes; pass-- > 0;) {
      const NodeId before = window.document().selection.node;
      const ImVec2 stood = window.place(before);
      window.run("pass.set", std::to_string(pass));
      const NodeId now = window.document().selection.node;
      if (!window.picture().box(now).valid()) break;
      CHECK(near(window.place(now), stood));
    }
  }
}

TEST_CASE("canvas: a group opens where its box stood", "[gui][canvas]") {
  CanvasWindow window;
  window.run("graph.collapse_all");
  const layout::Box* box = nullptr;
  for (const layout::Box& one : window.picture().layout.boxes)
    if (!one.node.valid() && one.side == layout::Side::forward) box = &one;
  REQUIRE(box != nullptr);
  const layout::Group group = window.picture().group(*box);
  const layout::Scene& scene = *window.picture().scene;
  const NodeId first = scene.nodes[scene.nodes_of(group).front()].node;
  const ImVec2 stood = window.place(first);
  window.run("graph.toggle", std::to_string(group.key));
  CHECK(window.picture().own_box(first).valid());
  CHECK(near(window.place(first), stood));
  window.run("graph.toggle", std::to_string(group.key));
  CHECK_FALSE(window.picture().own_box(first).valid());
}

TEST_CASE("canvas: a neighbourhood of the selection, wider and left again", "[gui][canvas]") {
  CanvasWindow window;
  const auto order = window.document().graph().order();
  const NodeId node = order[order.size() / 2];
  window.run("select.node", window.document().graph().node_name(node));
  const std::size_t all = window.picture().scene->nodes.size();
  window.run("graph.focus", "1");
  const std::size_t one = window.picture().scene->nodes.size();
  CHECK(one < all);
  CHECK(window.in_sight(node));
  window.run("graph.wider");
  CHECK(window.picture().scene->nodes.size() > one);
  CHECK(window.play("key Escape\nwait idle") == "");
  CHECK(window.picture().scene->nodes.size() == all);
  CHECK(window.document().selection.node == node);  // Escape took one thing back
}

TEST_CASE("canvas: a click selects, a drag moves by as much, the wheel keeps its point",
          "[gui][canvas]") {
  CanvasWindow window;
  const layout::Box& box = window.picture().layout.boxes.front();
  const NodeId node = node_of(window.picture(), box);
  window.run("select.node", window.document().graph_at_pass().node_name(node));
  const Rect rect = window.canvas().view().at(
      window.picture().layout.boxes[window.picture().box(node).index].rect);
  window.run("select.clear");
  window.press({rect.right - 20, rect.centre().y});
  CHECK(window.document().selection.node == node);

  const ImVec2 from = window.place(node);
  const ImVec2 free{window.canvas().area.left + 20, window.canvas().area.bottom - 60};
  window.backend.give(PointerMoved{free.x, free.y});
  window.tick();
  window.backend.give(PointerButton{0, true});
  window.tick();
  window.backend.give(PointerMoved{free.x + 60, free.y - 30});
  window.tick();
  window.backend.give(PointerButton{0, false});
  window.settle();
  CHECK(near(window.place(node), {from.x + 60, from.y - 30}));
  CHECK(window.document().selection.node == node);  // it was no click

  const layout::Point under = window.canvas().view().under(free);
  window.backend.give(PointerMoved{free.x, free.y});
  window.backend.give(WheelTurned{0, 2});
  window.settle();
  CHECK(near(window.canvas().view().at(under), free));
  CHECK(window.canvas().at.zoom > 1);
}

TEST_CASE("canvas: which way each column runs is told at every zoom", "[gui][canvas]") {
  CanvasWindow window;
  window.app.items.keep_texts = true;
  window.run("graph.fit");
  for (const char* zoom : {"4", "15", "50", "90"}) {
    CAPTURE(zoom);
    window.run("graph.zoom", zoom);
    CHECK(window.play("expect text \"forward ↓\"\nexpect text \"backward ↑\"") == "");
  }
}

TEST_CASE("canvas: the pointer's tooltip goes while keys are used", "[gui][canvas]") {
  CanvasWindow window;
  window.run("graph.expand_all");
  const NodeId node = window.document().graph().results.front();
  const std::string name = window.document().graph().node_name(node);
  window.run("select.node", name);
  window.run("select.clear");
  CHECK(window.play("hover \"graph/node " + name + "\"\nwait idle\nexpect text operator") == "");
  CHECK(window.play("key f\nwait idle\nexpect no text operator") == "");
}

TEST_CASE("canvas: f fits everything, and again the selection", "[gui][canvas]") {
  CanvasWindow window;
  const NodeId node = window.document().graph().results.front();
  window.run("select.node", window.document().graph().node_name(node));
  window.run("graph.expand_all");
  CHECK(window.play("key f\nwait idle") == "");
  const layout::Rect seen = window.canvas().view().visible();
  CHECK(seen.contains(window.picture().layout.bounds));
  const double zoom = window.canvas().at.zoom;
  CHECK(window.play("key f\nwait idle") == "");
  CHECK(window.canvas().at.zoom > zoom);
  CHECK(window.in_sight(node));
}

TEST_CASE("canvas: arrows lead along edges and back", "[gui][canvas]") {
  CanvasWindow window;
  window.run("graph.expand_all");
  const Picture& picture = window.picture();
  for (std::uint32_t b = 0; b < picture.layout.boxes.size(); ++b) {
    const layout::BoxId down = step(picture, layout::BoxId(b), WalkDirection::down);
    if (!down.valid()) continue;
    const layout::Rect &from = picture.layout.boxes[b].rect,
                       &to = picture.layout.boxes[down.index].rect;
    CHECK(to.top > from.top);
  }
  CHECK(window.play("key DownArrow\nkey DownArrow\nwait idle") == "");
  CHECK(window.state("selection") != "");
}

TEST_CASE("canvas: copied and exported as text, SVG and dot", "[gui][canvas]") {
  CanvasWindow window;
  const Graph& graph = window.document().graph();
  const NodeId node = graph.results.front();
  window.run("select.node", graph.node_name(node));
  CHECK(window.play("key Ctrl+C") == "");
  CHECK(window.backend.clipboard() == print_node(graph, node));
  window.run("export.svg", "picture");
  CHECK(window.backend.files["picture.svg"].find("<svg") != std::string::npos);
  window.run("export.dot", "graph.dot");
  CHECK(window.backend.files["graph.dot"].find("digraph") != std::string::npos);
  window.run("export.text", "graph");
  CHECK(window.backend.files["graph.recut"] == print(graph));
}

TEST_CASE("canvas: the last of several requests is what is laid out", "[gui][canvas]") {
  CanvasWindow window;
  for (const char* command : {"graph.expand_all", "graph.collapse_all", "graph.expand_all"})
    REQUIRE(window.app.run(command).ok());
  window.tick();
  REQUIRE(window.app.run("graph.collapse_all").ok());
  window.settle();
  CHECK(window.canvas().key == requested_key(shown_graph(window.document()), window.canvas()));
  for (const layout::Group& group : window.picture().scene->groups)
    CHECK(window.picture().expansion.is_open(group) == !group.parent.valid());
}

TEST_CASE("canvas: graphs of nothing, of one node, without backward", "[gui][canvas]") {
  for (const char* text :
       {"graph \"nothing\" {\n  results\n  gradients\n}\n",
        "graph \"one\" {\n  %x = input f32[2]\n  results %x\n  gradients none\n}\n",
        "graph \"forward\" {\n  %x = input f32[2]\n  %y = tanh(%x)\n  %z = "
        "sin(%y)\n  results %z\n  gradients none\n}\n"}) {
    CAPTURE(text);
    CanvasWindow window("made.recut", backend_with(text));
    for (const char* command : {"graph.fit", "graph.expand_all", "graph.collapse_all", "graph.down",
                                "graph.next", "graph.focus", "export.svg"})
      (void)window.app.run(command);
    window.settle();
    window.play("wheel graph/canvas 5\nwheel graph/canvas -40\ndrag graph/canvas 40 40");
  }
}

TEST_CASE("canvas: names of any length and script", "[gui][canvas]") {
  const std::string huge(10'000, 'n');
  const std::string text =
      "graph \"names\" {\n  %x = input f32[2]\n  %" + huge + " = tanh(%x)  @\"" + huge +
      ".\u05e9\u05dc\u05d5\u05dd.\U0001f642\"\n  %b = sin(%" + huge +
      ")  @\"\u0645\u0631\u062d\u0628\u0627\"\n  results %b\n  gradients none\n}\n";
  for (const float scale : {1.0f, 2.0f}) {
    NullBackend backend({3840, 2160}, scale);
    backend.files["made.recut"] = text;
    CanvasWindow window("made.recut", std::move(backend));
    REQUIRE(window.document().is_ready());
    window.run("graph.expand_all");
    window.run("select.node", huge);
    for (const char* zoom : {"20", "60", "100", "300", "600"}) window.run("graph.zoom", zoom);
    CHECK(window.in_sight(window.node(huge)));
    CHECK(window.play("hover graph/canvas") == "");
  }
}

TEST_CASE("canvas: long words are cut between letters", "[gui][canvas]") {
  CHECK(clipped("abc", 2) == "ab");
  CHECK(clipped("a\u05e9", 2) == "a");
  CHECK(wrapped("one two three", 7, 3) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("one two three four", 7, 2).back() == "three f…");
  CHECK(wrapped("", 7, 2).empty());
}

TEST_CASE("canvas: marks follow the plan without a new layout", "[gui][canvas]") {
  CanvasWindow window;
  window.run("graph.expand_all");
  const int pictures = window.canvas().pictures, marks = window.canvas().marks_made;
  const SharedPlanView before = window.document().shown;
  window.run("budget.set", std::to_string(window.document().known.all().front()->peak()));
  REQUIRE(window.document().shown != before);
  CHECK(window.canvas().pictures == pictures);
  CHECK(window.canvas().marks_made > marks);
  const PlanMarks& now = *window.canvas().marks;
  for (std::size_t b = 0; b < now.boxes.size(); ++b) {
    const NodeId node = window.picture().layout.boxes[b].node;
    if (node.valid()) CHECK(now.boxes[b].role == window.document().shown->role(node));
  }
}

}  // namespace
}  // namespace recut::gui

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "gui/layout/graph_layout.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"
#include "tests/gui/layout_checks.h"
#include "tests/gui/repeated_blocks.h"
#include "tests/input/parse.h"
#include "tests/random/random_graph.h"

namespace recut::gui::layout {
namespace {

using test::layout_fault;
using test::RepeatedBlocks;
using test::same_layout;

GraphLayout laid_out(const Scene& scene, const Expansion& expansion,
                     const LayoutOptions& options = {}) {
  LayoutCache cache;
  auto layout = lay_out(scene, expansion, cache, options);
  REQUIRE(layout.has_value());
  return std::move(*layout);
}

// `count` nodes, each of which reads the one before.
Graph chain(std::int64_t count) {
  Graph graph;
  NodeId x = graph.add_input(InputKind::input, make_type(DType::f32, {4}), {"x"});
  for (std::int64_t i = 0; i < count; ++i) {
    Origin origin;
    origin.name = fmt::format("n{}", i);
    x = *graph.make(i % 2 == 0 ? Op::tanh : Op::sigmoid, {x}, origin);
  }
  graph.results = {x};
  graph.gradients = {NodeId()};
  return graph;
}

TEST_CASE("layout: nothing to lay out") {
  const Scene scene = scene_of(Graph());
  const GraphLayout layout = laid_out(scene, test::everything());
  CHECK(layout.boxes.empty());
  CHECK(layout.bands.size() == 1);
  Visible visible;
  look(layout, {-100, -100, 100, 100}, 1, visible);
  CHECK(visible.boxes.empty());
  CHECK_FALSE(hit_box(layout, {0, 0}).valid());
  CHECK_FALSE(hit_group(layout, {0, 0}).valid());
  CHECK(default_expansion(scene).open.empty());
}

TEST_CASE("layout: one node, and names of any length") {
  const std::string name(10000, 'n');
  Graph graph;
  const NodeId x = graph.add_input(InputKind::input, make_type(DType::f32, {4}), {"x"});
  std::string module;
  for (int i = 0; i < 5000; ++i) module += "m.";
  const NodeId y = *graph.make(Op::tanh, {x}, {name, module, 3});
  graph.results = {y};
  graph.gradients = {NodeId()};
  const Scene scene = scene_of(graph);
  const GraphLayout layout = laid_out(scene, test::everything());
  CHECK(layout_fault(scene, layout).empty());
  CHECK(layout.boxes[layout.find(scene, y).index].rect.width() == kBoxWidth);
}

TEST_CASE("layout: frames around nothing but a frame share one title line") {
  Graph graph;
  NodeId x = graph.add_input(InputKind::input, make_type(DType::f32, {4}), {"x"});
  int count = 0;
  for (const char* module : {"m.h.7.attn", "m.mlp"})
    for (int i = 0; i < 3; ++i)
      x = *graph.make(Op::tanh, {x}, {fmt::format("n{}", ++count), module});
  graph.results = {x};
  graph.gradients = {NodeId()};
  const Scene scene = scene_of(graph);
  const GraphLayout layout = laid_out(scene, test::everything());
  CHECK(layout_fault(scene, layout).empty());
  int together = 0;
  for (const Band& band : layout.bands) {
    const std::string& label = scene.groups[band.group.index].label;
    CHECK((label != "h" && label != "7" && label != "attn"));
    if (label == "h.7.attn") ++together;
  }
  CHECK(together == 1);
}

TEST_CASE("layout: random graphs, closed and open") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = test::random_graph(seed);
    const Scene scene = scene_of(graph);
    for (const Expansion& expansion :
         {Expansion(), test::everything(), default_expansion(scene, 12)}) {
      const GraphLayout layout = laid_out(scene, expansion);
      INFO("seed " << seed);
      REQUIRE(layout_fault(scene, layout) == "");
      REQUIRE(same_layout(layout, laid_out(scene_of(graph), expansion)));
    }
  }
}

TEST_CASE("layout: blocks, however they are opened") {
  const Graph graph = RepeatedBlocks::make(9);
  const Scene scene = scene_of(graph);
  test::Random random(7);
  for (int i = 0; i < 40; ++i) {
    Expansion expansion;
    for (const Group& group : scene.groups)
      if (random.one_in(2)) expansion.set(group, true);
    REQUIRE(layout_fault(scene, laid_out(scene, expansion)) == "");
  }
}

TEST_CASE("layout: flow goes down, gradients go up") {
  const Scene scene = scene_of(RepeatedBlocks::make(5));
  const GraphLayout layout = laid_out(scene, test::everything());
  for (const Edge& edge : layout.edges) {
    const Rect &from = layout.boxes[edge.from.index].rect, &to = layout.boxes[edge.to.index].rect;
    if (edge.kind == EdgeKind::flow) CHECK(from.bottom < to.top);
    if (edge.kind == EdgeKind::gradient) CHECK(from.top > to.bottom);
  }
}

TEST_CASE("layout: backward nodes stand beside their forward partners") {
  const Graph graph = parse(R"(graph "g" {
  %x = parameter f32[2, 3] #0
  %t = tangent f32[2, 3]
  %y = exp(%x) : f32[2, 3] #1
  %z = relu(%y) : f32[2, 3] #2
  %g = mul.Tensor(%t, %z) : f32[2, 3] #2
  %m = mul.Tensor(%g, %y) : f32[2, 3] #1
  results %z
  gradients %m
}
)");
  const Scene scene = scene_of(graph);
  const GraphLayout layout = laid_out(scene, test::everything());
  const auto box = [&](const char* name) {
    return layout.boxes[layout.find(scene, graph.find(name)).index];
  };
  CHECK(box("z").rect.top == box("g").rect.top);
  CHECK(box("y").rect.top == box("m").rect.top);
  CHECK(box("y").partner == layout.find(scene, graph.find("m")));
  CHECK(box("g").side == Side::backward);
  CHECK(box("x").side == Side::shelf);
}

TEST_CASE("layout: partners by name and by saved values, without numbers") {
  const Graph graph = parse(R"(graph "g" {
  %x = input f32[2, 3]
  %t = tangent f32[2, 3]
  %y = tanh(%x) : f32[2, 3]
  %z = sigmoid(%y) : f32[2, 3]
  %g = sigmoid_backward(%t, %z) : f32[2, 3]
  %m = tanh_backward(%g, %y) : f32[2, 3]
  results %z
  gradients %m
}
)");
  const Scene scene = scene_of(graph);
  const GraphLayout layout = laid_out(scene, test::everything());
  const auto top = [&](const char* name) {
    return layout.boxes[layout.find(scene, graph.find(name)).index].rect.top;
  };
  CHECK(top("z") == top("g"));
  CHECK(top("y") == top("m"));
}

// Of two routes: whether a piece of one lies on a piece of the other.
bool share_a_line(std::span<const Point> a, std::span<const Point> b) {
  for (std::size_t i = 1; i < a.size(); ++i)
    for (std::size_t k = 1; k < b.size(); ++k) {
      const bool rows = a[i - 1].y == a[i].y && b[k - 1].y == b[k].y && a[i].y == b[k].y;
      const bool columns = a[i - 1].x == a[i].x && b[k - 1].x == b[k].x && a[i].x == b[k].x;
      const auto over = [](float a0, float a1, float b0, float b1) {
        return std::max(std::min(a0, a1), std::min(b0, b1)) <
               std::min(std::max(a0, a1), std::max(b0, b1));
      };
      if (rows && over(a[i - 1].x, a[i].x, b[k - 1].x, b[k].x)) return true;
      if (columns && over(a[i - 1].y, a[i].y, b[k - 1].y, b[k].y)) return true;
    }
  return false;
}

TEST_CASE("layout: rungs of two values don't merge") {
  // Each value is read in the row below its own, where the next one begins.
  const Graph graph = parse(R"(graph "g" {
  %x = input f32[2, 3] #0
  %t = tangent f32[2, 3]
  %a1 = exp(%x) : f32[2, 3] #1
  %h1 = tanh(%a1) : f32[2, 3] #2
  %a2 = exp(%h1) : f32[2, 3] #3
  %h2 = tanh(%a2) : f32[2, 3] #4
  %g4 = mul.Tensor(%t, %a2) : f32[2, 3] #4
  %k4 = mul.Tensor(%g4, %h1) : f32[2, 3] #4
  %g3 = mul.Tensor(%k4, %h1) : f32[2, 3] #3
  %g2 = mul.Tensor(%g3, %a1) : f32[2, 3] #2
  %g1 = mul.Tensor(%g2, %a1) : f32[2, 3] #1
  results %h2
  gradients %g1
}
)");
  const Scene scene = scene_of(graph);
  const GraphLayout layout = laid_out(scene, test::everything());
  REQUIRE(layout_fault(scene, layout) == "");
  int rungs = 0;
  for (const Edge& a : layout.edges)
    for (const Edge& b : layout.edges) {
      if (a.kind != EdgeKind::saved || b.kind != EdgeKind::saved || a.from == b.from) continue;
      if (a.points == 0 || b.points == 0) continue;
      ++rungs;
      CHECK_FALSE(share_a_line(layout.route(a), layout.route(b)));
    }
  CHECK(rungs > 0);
}

TEST_CASE("layout: equal blocks are known and laid out alike") {
  const Scene scene = scene_of(RepeatedBlocks::make(24));
  std::uint32_t most = 0;
  for (const Group& group : scene.groups)
    if (group.forward_nodes > 5) most = std::max(most, group.equals);
  CHECK(most >= 22);  // the first and the last differ at their borders
}

TEST_CASE("layout: a long chain and a node with many users") {
  const Scene scene = scene_of(chain(50000));
  CHECK(layout_fault(scene, laid_out(scene, test::everything())) == "");
  CHECK(laid_out(scene, default_expansion(scene, 150)).boxes.size() <= 150);

  Graph fan;
  const NodeId x = fan.add_input(InputKind::input, make_type(DType::f32, {4}), {"x"});
  const NodeId y = *fan.make(Op::tanh, {x});
  for (int i = 0; i < 5000; ++i)
    fan.results.push_back(*fan.make(Op::add_Tensor, {y, Argument(i + 2), Argument()}));
  fan.gradients = {NodeId()};
  const Scene wide = scene_of(fan);
  const GraphLayout layout = laid_out(wide, test::everything());
  CHECK(layout_fault(wide, layout) == "");
  CHECK(layout.bounds.width() < 100 * kBoxWidth);
}

TEST_CASE("layout: stops when it is told to") {
  const Scene scene = scene_of(RepeatedBlocks::make(400));
  LayoutCache cache;
  int asked = 0;
  LayoutOptions options;
  options.stop = [&] { return ++asked > 2; };
  CHECK_FALSE(lay_out(scene, test::everything(), cache, options).has_value());
  CHECK(asked == 3);
  options.stop = [] { return false; };
  CHECK(same_layout(*lay_out(scene, test::everything(), cache, options),
                    laid_out(scene, test::everything())));
}

}  // namespace
}  // namespace recut::gui::layout

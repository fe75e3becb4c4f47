// Places from click to click and from pass to pass; what a look and a hit see; neighbourhoods.
#include <catch2/catch_test_macros.hpp>

#include "gui/layout/graph_layout.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"
#include "tests/gui/layout_checks.h"
#include "tests/gui/repeated_blocks.h"
#include "tests/random/random_graph.h"

namespace recut::gui::layout {
namespace {

using test::RepeatedBlocks;

const Group& group_called(const Scene& scene, const std::string& path) {
  for (const Group& group : scene.groups)
    if (group.path == path) return group;
  return scene.groups[0];
}

TEST_CASE("layout: the anchor stays when a group opens and closes") {
  const Graph graph = RepeatedBlocks::make(6);
  const Scene scene = scene_of(graph);
  LayoutCache cache;
  Expansion closed = default_expansion(scene, 30), open = closed;
  reveal(scene, graph.find("mm_2"), open);
  const GraphLayout before = *lay_out(scene, closed, cache);
  LayoutOptions options;
  options.former = {&scene, &before, {}};
  options.anchor = graph.find("mm_2");
  const GraphLayout after = *lay_out(scene, open, cache, options);
  const Rect& was = before.boxes[before.find(scene, options.anchor).index].rect;
  const Rect& is = after.boxes[after.find(scene, options.anchor).index].rect;
  CHECK(is.left + after.anchor_shift.x == was.left);
  CHECK(is.top + after.anchor_shift.y == was.top);
  CHECK(after.boxes[after.find(scene, options.anchor).index].node == options.anchor);
  // And back: as if nothing had been.
  options.former = {&scene, &after, {}};
  CHECK(test::same_layout(*lay_out(scene, closed, cache, options), before));
}

// A pass that drops the last node that nothing uses.
Graph without_last(const Graph& graph) {
  Graph smaller = graph.empty_like();
  const Users users(graph);
  for (const NodeId id : graph.order()) {
    if (graph.is_input(id))
      smaller.add_input(graph.input_kind(id), graph.type(id), graph.origin(id));
    else if (id != graph.order().back() || !users.of(id).empty())
      smaller.append(graph[id].op, graph[id].arguments, graph[id].outputs, graph.origin(id));
  }
  return smaller;
}

TEST_CASE("layout: what a pass leaves alone keeps its column") {
  int kept = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Graph graph = test::random_graph(seed), smaller = without_last(graph);
    const Scene old_scene = scene_of(graph), scene = scene_of(smaller);
    LayoutCache cache;
    const GraphLayout before = *lay_out(old_scene, test::everything(), cache);
    LayoutOptions options;
    options.former = {&old_scene, &before, {}};
    const GraphLayout after = *lay_out(scene, test::everything(), cache, options);
    INFO("seed " << seed);
    REQUIRE(test::layout_fault(scene, after) == "");
    for (const Box& box : after.boxes) {
      const BoxId old = before.find(old_scene, box.node);
      if (!old.valid() || before.boxes[old.index].side != box.side) continue;
      ++(before.boxes[old.index].column == box.column ? kept : moved);
    }
  }
  INFO(kept << " kept, " << moved << " moved");
  CHECK(moved * 10 <= kept);
}

TEST_CASE("layout: the same graph again keeps every place") {
  const Graph graph = RepeatedBlocks::make(6);
  const Scene scene = scene_of(graph), again = scene_of(graph);
  LayoutCache cache;
  const GraphLayout before = *lay_out(scene, test::everything(), cache);
  LayoutOptions options;
  options.former = {&scene, &before, [](NodeId id) { return id; }};
  CHECK(test::same_layout(*lay_out(again, test::everything(), cache, options), before));
}

TEST_CASE("layout: opening a group lays out only that group and those around it") {
  const Scene scene = scene_of(RepeatedBlocks::make(12));
  LayoutCache cache;
  Expansion some = default_expansion(scene, 60);
  lay_out(scene, some, cache);
  const std::size_t before = cache.size();
  some.set(group_called(scene, "m.layers.5.act"), true);
  some.set(group_called(scene, "m.layers.5"), true);
  lay_out(scene, some, cache);
  CHECK(cache.size() - before <= 5);
}

TEST_CASE("layout: looks and hits find what is there") {
  const Graph graph = RepeatedBlocks::make(300);
  const Scene scene = scene_of(graph);
  LayoutCache cache;
  const GraphLayout layout = *lay_out(scene, test::everything(), cache);
  test::Random random(3);
  Visible visible;
  for (int i = 0; i < 200; ++i) {
    const auto b =
        static_cast<std::uint32_t>(random.below(static_cast<std::int64_t>(layout.boxes.size())));
    const Rect& rect = layout.boxes[b].rect;
    REQUIRE(hit_box(layout, rect.centre()) == BoxId(b));
    REQUIRE_FALSE(hit_box(layout, {rect.right + 1, rect.top}) == BoxId(b));
    look(layout, rect.grown(300), 1, visible);
    REQUIRE(std::count(visible.boxes.begin(), visible.boxes.end(), b) == 1);
    std::size_t near = 0;
    for (const Box& box : layout.boxes) near += box.rect.touches(rect.grown(300)) ? 1 : 0;
    REQUIRE(visible.boxes.size() == near);
  }
  look(layout, layout.bounds, 1000 / layout.bounds.height(), visible);
  CHECK(visible.boxes.size() + visible.blocks.size() < 1000);
  CHECK_FALSE(visible.labels);
  for (std::uint32_t e = 0; e < layout.edges.size(); e += 97) {
    if (layout.edges[e].points == 0) continue;
    const Point p = layout.route(layout.edges[e])[0];
    CHECK(hit_edge(layout, p, 3) != Scene::kNone);
  }
}

TEST_CASE("layout: a neighbourhood is a scene of its own") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = test::random_graph(seed);
    const Scene scene = scene_of(graph);
    const NodeId node = graph.order()[graph.order().size() / 2];
    std::size_t last = 0;
    for (std::uint32_t radius = 0; radius < 4; ++radius) {
      const Scene near = neighbourhood(scene, node, radius);
      REQUIRE(near.find(node) != Scene::kNone);
      REQUIRE(near.nodes.size() >= last);
      last = near.nodes.size();
      LayoutCache cache;
      INFO("seed " << seed << " radius " << radius);
      REQUIRE(test::layout_fault(near, *lay_out(near, test::everything(), cache)) == "");
    }
  }
  const Graph blocks = RepeatedBlocks::make(20);
  const Scene scene = scene_of(blocks);
  const Scene near = neighbourhood(scene, blocks.find("mm_3"), 2);
  CHECK(near.nodes.size() < 40);
  CHECK(neighbourhood(scene, NodeId(), 2).nodes.empty());
}

}  // namespace
}  // namespace recut::gui::layout

#include "engine/mesh/rules/propagate.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/input/text.h"
#include "engine/mesh/rules/redistribution_bytes.h"

using namespace recut;
using namespace recut::mesh;

namespace {

const Placement kWhole = Placement::replicate();
const Placement kPartialSum = Placement::partial(Reduction::sum);

Graph joint_graph(std::string_view forward) {
  const auto graph = parse_graph_text(forward, "test");
  if (!graph) FAIL(format(graph.diagnostics()));
  auto joint = differentiate(*graph);
  if (!joint) FAIL(format(joint.diagnostics()));
  return std::move(*joint);
}

GraphPlacements placed(const Graph& graph, const std::vector<std::int64_t>& sizes,
                       const std::map<std::string, AxisPlacements>& inputs) {
  std::map<NodeId, AxisPlacements> given;
  for (const auto& [name, placements] : inputs) given[graph.find(name)] = placements;
  auto found = propagate(graph, sizes, given);
  if (!found) FAIL(format(found.diagnostics()));
  return std::move(*found);
}

AxisPlacements gradient_of(const Graph& graph, const GraphPlacements& placements,
                           std::string_view parameter) {
  std::size_t next = 0;
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) == InputKind::tangent) continue;
    if (graph.node_name(id) == parameter)
      return placements.nodes.at(graph.gradients[next]).results.front();
    ++next;
  }
  return {};
}

struct ChangeCounts {
  int all_reduces = 0, gathers = 0, others = 0;
};
ChangeCounts changes_of(const GraphPlacements& placements) {
  ChangeCounts counts;
  for (const PlacementChange& change : placements.changes) {
    if (change.bytes == 0) continue;
    if (change.from.is_partial() && change.to.is_replicate())
      ++counts.all_reduces;
    else if (change.from.is_shard() && change.to.is_replicate())
      ++counts.gathers;
    else
      ++counts.others;
  }
  return counts;
}

// A block of two pairs of layers with residuals, as attention and the MLP of a transformer are: the
// first of a pair is sharded by columns, the second by rows.
constexpr const char* kBlock = R"(graph "block" {
  %w1 = parameter f32[16, 64]
  %w2 = parameter f32[64, 16]
  %w3 = parameter f32[16, 64]
  %w4 = parameter f32[64, 16]
  %we = parameter f32[16, 16]
  %tokens = input f32[8, 16]
  %x = mm(%tokens, %we)
  %n0 = native_layer_norm(%x, [16], none, none, 1e-5)
  %n1 = getitem(%n0, 0)
  %a1 = mm(%n1, %w1)
  %a2 = silu(%a1)
  %a3 = mm(%a2, %w2)
  %r1 = add.Tensor(%x, %a3)
  %m0 = native_layer_norm(%r1, [16], none, none, 1e-5)
  %m1 = getitem(%m0, 0)
  %b1 = mm(%m1, %w3)
  %b2 = gelu(%b1)
  %b3 = mm(%b2, %w4)
  %r2 = add.Tensor(%r1, %b3)
  %o0 = native_layer_norm(%r2, [16], none, none, 1e-5)
  %o1 = getitem(%o0, 0)
  results %o1
})";

const std::map<std::string, AxisPlacements> kMegatron{{"w1", {Placement::shard(1)}},
                                                      {"w2", {Placement::shard(0)}},
                                                      {"w3", {Placement::shard(1)}},
                                                      {"w4", {Placement::shard(0)}}};

}  // namespace

TEST_CASE("propagation: bytes of a change of placement", "[mesh][rules]") {
  const TensorType type = make_type(DType::f32, {12, 8});
  const auto bytes = [&](Placement from, Placement to) {
    return redistribution_bytes(type, from, to, 4);
  };
  const Placement rows = Placement::shard(0), columns = Placement::shard(1);
  CHECK(bytes(kWhole, rows) == 0);
  CHECK(bytes(rows, kWhole) == 288);
  CHECK(bytes(rows, columns) == 72);
  CHECK(bytes(kPartialSum, kWhole) == 576);
  CHECK(bytes(kPartialSum, rows) == 288);
  CHECK(bytes(kWhole, kPartialSum) == 0);
  CHECK(bytes(rows, kPartialSum) == 0);
  CHECK(bytes(kPartialSum, Placement::partial(Reduction::avg)) == 0);
  CHECK(bytes(kPartialSum, Placement::partial(Reduction::max)) == 576);
  CHECK(redistribution_bytes(make_type(DType::f32, {5, 7}), rows, columns, 4) == 48);
}

TEST_CASE("propagation: sharded columns, then rows, need two all-reduces a block and direction",
          "[mesh][rules]") {
  const auto forward = parse_graph_text(kBlock, "test");
  REQUIRE(forward.ok());
  const GraphPlacements of_forward = placed(*forward, {2}, kMegatron);
  CHECK(of_forward.nodes.at(forward->find("a1")).results[0][0] == Placement::shard(1));
  CHECK(of_forward.nodes.at(forward->find("a3")).results[0][0] == kPartialSum);
  CHECK(changes_of(of_forward).all_reduces == 2);
  CHECK(changes_of(of_forward).gathers == 0);

  const Graph joint = joint_graph(kBlock);
  const GraphPlacements placements = placed(joint, {2}, kMegatron);
  const ChangeCounts counts = changes_of(placements);
  CHECK(counts.all_reduces == 4);
  CHECK(counts.gathers == 0);
  CHECK(counts.others == 0);
  CHECK(gradient_of(joint, placements, "w1") == AxisPlacements{Placement::shard(1)});
  CHECK(gradient_of(joint, placements, "w4") == AxisPlacements{Placement::shard(0)});
}

TEST_CASE("propagation: a sharded batch makes gradients of weights sums", "[mesh][rules]") {
  const Graph joint = joint_graph(kBlock);
  std::map<std::string, AxisPlacements> batch{{"tokens", {Placement::shard(0)}}};
  for (const NodeId id : joint.inputs())
    if (joint.input_kind(id) == InputKind::tangent)
      batch[joint.node_name(id)] = {Placement::shard(0)};
  const GraphPlacements placements = placed(joint, {4}, batch);
  CHECK(placements.bytes_sent() == 0);
  for (const char* weight : {"w1", "w2", "w3", "w4"})
    CHECK(gradient_of(joint, placements, weight) == AxisPlacements{kPartialSum});
}

TEST_CASE("propagation: axes are chosen one after another", "[mesh][rules]") {
  const Graph joint = joint_graph(kBlock);
  std::map<std::string, AxisPlacements> both{{"tokens", {Placement::shard(0), kWhole}}};
  for (const NodeId id : joint.inputs())
    if (joint.input_kind(id) == InputKind::tangent)
      both[joint.node_name(id)] = {Placement::shard(0), kWhole};
  for (const auto& [name, at] : kMegatron) both[name] = {kWhole, at[0]};
  const GraphPlacements placements = placed(joint, {2, 2}, both);
  CHECK(gradient_of(joint, placements, "w1") == AxisPlacements{kPartialSum, Placement::shard(1)});
  for (const PlacementChange& change : placements.changes)
    if (change.bytes > 0) CHECK(change.axis == 1);
}

TEST_CASE("propagation: two axes don't share a factor that they don't divide", "[mesh][rules]") {
  const auto graph = parse_graph_text(R"(graph "g" {
    %x = input f32[8, 3]
    %y = view(%x, [2, 4, 3])
    results %y
  })",
                                      "test");
  REQUIRE(graph.ok());
  const Placement rows = Placement::shard(0);
  const GraphPlacements once = placed(*graph, {2}, {{"x", {rows}}});
  CHECK(once.nodes.at(graph->find("y")).results[0] == AxisPlacements{rows});
  const GraphPlacements twice = placed(*graph, {2, 2}, {{"x", {rows, rows}}});
  CHECK(twice.nodes.at(graph->find("y")).results[0] == AxisPlacements{rows, kWhole});
}

TEST_CASE("propagation: placements that don't fit an input are refused", "[mesh][rules]") {
  const auto graph = parse_graph_text(kBlock, "test");
  REQUIRE(graph.ok());
  const auto message = [&](const AxisPlacements& at) {
    const auto found = propagate(*graph, {2}, {{graph->find("tokens"), at}});
    REQUIRE_FALSE(found.ok());
    return found.diagnostics().front().message;
  };
  CHECK(message({kWhole, kWhole}) ==
        "'tokens' has 2 placements, the mesh has 1 axes: give one an axis");
  CHECK(message({Placement::shard(2)}) ==
        "'tokens' is placed as S(2), but has 2 dimensions: name one from 0 on");
}

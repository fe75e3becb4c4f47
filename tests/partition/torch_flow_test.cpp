// The trace of strategy torch's minimum cut: what the paths send adds up to the cut, and the cut is
// what the strategy saves.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "engine/partition/torch/saved_values.h"
#include "engine/partition/torch_flow.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

Document sample(const std::string& path) {
  auto document = open_document(RECUT_SOURCE_DIR "/samples/" + path, {});
  REQUIRE(document.ok());
  return std::move(*document);
}

using Prices = std::map<NodeId, std::int64_t>;

// The capacity of each node that all paths together use.
Prices used(const TorchFlow& flow) {
  Prices used;
  for (const TorchFlowPath& path : flow.paths)
    for (const TorchFlowPath::Stop& stop : path.stops)
      used[stop.node] += stop.through ? path.amount : stop.returned ? -path.amount : 0;
  return used;
}

void check_flow(const Graph& graph) {
  const auto flow = trace_torch_flow(graph, {}, 100'000);
  REQUIRE(flow.ok());
  REQUIRE(flow->complete());
  std::int64_t sent = 0, cut = 0;
  for (const TorchFlowPath& path : flow->paths) {
    CHECK(path.amount > 0);
    CHECK_FALSE(path.stops.empty());
    sent += path.amount;
  }
  Prices price;
  for (const TorchFlowNode& node : flow->nodes) price[node.node] = node.weight;
  for (const NodeId node : flow->saved) cut += price.at(node);
  CHECK(sent == flow->capacity);
  CHECK(cut == flow->capacity);

  const Prices load = used(*flow);
  for (const auto& [node, amount] : load) {
    CHECK(amount >= 0);
    if (price.at(node) >= 0) CHECK(amount <= price.at(node));
  }
  for (const NodeId node : flow->saved)
    if (price.at(node) > 0) CHECK(load.at(node) == price.at(node));

  const torch::Analysis analysis(graph);
  const auto chosen = torch::choose_saved_values(analysis, 1.0);
  REQUIRE(std::holds_alternative<torch::SavedValues>(chosen));
  CHECK(std::get<torch::SavedValues>(chosen).saved == flow->saved);
  for (const NodeId node : flow->recomputed)
    CHECK(std::find(flow->saved.begin(), flow->saved.end(), node) == flow->saved.end());
}

TEST_CASE("flow of strategy torch: paths, cut and what is saved agree", "[partition]") {
  for (const char* path : {"lessons/gated.recut", "lessons/layers.recut", "mlp.recut",
                           "attention.recut", "dropout.recut", "joint/tiny_conv.json.gz"}) {
    CAPTURE(path);
    check_flow(sample(path).graph());
  }
}

TEST_CASE("flow of strategy torch: the lesson's graph is cut in its middle", "[partition]") {
  const Document document = sample("lessons/gated.recut");
  const auto flow = trace_torch_flow(document.graph());
  REQUIRE(flow.ok());
  const auto saves = [&](const char* name) {
    const NodeId node = document.graph().find(name);
    return std::find(flow->saved.begin(), flow->saved.end(), node) != flow->saved.end();
  };
  CHECK(flow->paths.size() == 3);
  CHECK(saves("sum"));
  CHECK(saves("wx"));  // a parameter is in the cut, too, and costs nothing
  CHECK(flow->saved.size() == 3);
  for (const char* name : {"a", "b", "gate", "new"}) CHECK_FALSE(saves(name));
  // Three of the paths share what the sum can carry.
  const NodeId sum = document.graph().find("sum");
  CHECK(std::count_if(flow->paths.begin(), flow->paths.end(), [&](const TorchFlowPath& path) {
          return std::any_of(path.stops.begin(), path.stops.end(),
                             [&](const auto& stop) { return stop.node == sum; });
        }) == 3);
}

TEST_CASE("flow of strategy torch: a trace is bounded, and needs a backward", "[partition]") {
  const Document document = sample("lessons/gated.recut");
  const auto flow = trace_torch_flow(document.graph(), {}, 2);
  REQUIRE(flow.ok());
  CHECK(flow->paths.size() == 2);
  CHECK(flow->found == 3);
  CHECK_FALSE(flow->complete());
}

// Lesson 4 rests on this: a smaller fraction saves less and peaks higher.
TEST_CASE("the lesson's layers: fewer saved bytes can peak higher", "[partition]") {
  const Document document = sample("lessons/layers.recut");
  std::map<double, PlanReport> at;
  for (const double fraction : {0.75, 0.5, 0.35, 0.1}) {
    PlanningRequest request;
    request.strategy = "torch";
    request.budget = std::to_string(fraction);
    const auto planned = plan_document(document, request);
    REQUIRE(planned.ok());
    at[fraction] = planned->report;
  }
  CHECK(at[0.5].saved_bytes < at[0.75].saved_bytes);
  CHECK(at[0.5].peak_bytes > at[0.75].peak_bytes);
  CHECK(at[0.35].saved_bytes < at[0.5].saved_bytes);
  CHECK(at[0.35].peak_bytes > at[0.5].peak_bytes);
  CHECK(at[0.1].saved_bytes < at[0.35].saved_bytes);
  CHECK(at[0.1].peak_bytes > at[0.35].peak_bytes);
  CHECK(at[0.1].recompute_us > at[0.75].recompute_us);
}

}  // namespace
}  // namespace recut::test

// Plans of graphs with collectives, and of calls that run a second time at the user's word only.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "engine/cost/cost.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/rebuild.h"
#include "engine/partition/baseline.h"
#include "engine/partition/plan_from_saved.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// A parameter is gathered, used, and saved for backward; its wait stands far from its start.
constexpr const char* kGathered = R"(graph "net" {
  %w = parameter f32[4, 64]
  %x = input f32[64, 32]
  %t = tangent f32[32, 32]
  %h = sin(%w)
  %start = _c10d_functional.all_gather_into_tensor(%h, 8, "0")
  %e = exp(%x)
  %e2 = sin(%e)
  %whole = _c10d_functional.wait_tensor(%start)
  %y = mm(%whole, %e2)
  %e3 = permute(%e2, [1, 0])
  %g = mm(%t, %e3)
  %g2 = mul.Tensor(%g, %whole)
  %part = _c10d_functional.reduce_scatter_tensor(%g2, "sum", 8, "0")
  %gw = _c10d_functional.wait_tensor(%part)
  results %y
  gradients %gw, none
}
)";

// The gathered parameter is idle while the largest value lives, and read again after that.
constexpr const char* kIdle = R"(graph "net" {
  %w = parameter f32[16, 256]
  %x = parameter f32[4, 128]
  %t = tangent f32[4, 256]
  %start = _c10d_functional.all_gather_into_tensor(%w, 8, "0")
  %whole = _c10d_functional.wait_tensor(%start)
  %a = mm(%x, %whole)
  %at = permute(%a, [1, 0])
  %large = mm(%at, %a)
  %s = sum(%large)
  %y = mul.Tensor(%a, %s)
  %wt = permute(%whole, [1, 0])
  %gx = mm(%t, %wt)
  results %y
  gradients none, %gx
}
)";

Plan planned(const Graph& graph, const PlanRequest& request) {
  const auto outcome = make_plan(graph, request);
  INFO((outcome ? std::string() : format(outcome.diagnostics())));
  REQUIRE(outcome.ok());
  return outcome->plan;
}

std::ptrdiff_t runs_of(const Plan& plan, NodeId id) {
  return std::count(plan.forward.begin(), plan.forward.end(), id) +
         std::count(plan.backward.begin(), plan.backward.end(), id);
}

TEST_CASE("collectives: a plan waits at once, and gathers again where the budget needs it",
          "[partition]") {
  const Graph graph = parse(kIdle);
  const NodeId start = graph.find("start"), wait = graph.find("whole");
  const auto free_replay = replay(graph, planned(graph, {}), DeviceRates());
  REQUIRE(free_replay.ok());
  CHECK(runs_of(planned(graph, {}), start) == 1);
  std::ptrdiff_t most = 0;
  for (const double part : {1.0, 0.9, 0.8}) {
    CAPTURE(part);
    PlanRequest request;
    request.budget =
        PeakBytes{static_cast<std::int64_t>(part * static_cast<double>(free_replay->peak_bytes))};
    const auto outcome = make_plan(graph, request);
    REQUIRE(outcome.ok());
    const Plan& plan = outcome->plan;
    most = std::max(most, runs_of(plan, start));
    for (const auto* pass : {&plan.forward, &plan.backward})
      for (std::size_t i = 0; i < pass->size(); ++i)
        if ((*pass)[i] == start) CHECK(pass->at(i + 1) == wait);
    CHECK(replay(graph, plan, DeviceRates()).ok());
  }
  CHECK(most == 2);
}

TEST_CASE("collectives: a reduction runs once, whatever the budget", "[partition]") {
  const Graph graph = parse(R"(graph "net" {
  %w = parameter f32[64, 64]
  %x = input f32[64, 64]
  %t = tangent f32[64, 64]
  %p = mm(%x, %w)
  %start = _c10d_functional.all_reduce(%p, "sum", "0")
  %whole = _c10d_functional.wait_tensor(%start)
  %h = exp(%whole)
  %y = mm(%h, %w)
  %g = mul.Tensor(%t, %whole)
  %gw = mm(%x, %g)
  results %y
  gradients %gw, none
}
)");
  const auto free_replay = replay(graph, planned(graph, {}), DeviceRates());
  REQUIRE(free_replay.ok());
  for (const double part : {0.9, 0.7, 0.5}) {
    PlanRequest request;
    request.budget =
        PeakBytes{static_cast<std::int64_t>(part * static_cast<double>(free_replay->peak_bytes))};
    const auto outcome = make_plan(graph, request);
    REQUIRE(outcome.ok());
    CHECK(runs_of(outcome->plan, graph.find("start")) == 1);
  }
}

TEST_CASE("collectives: the user may ask for a second gather", "[partition]") {
  const Graph graph = parse(kGathered);
  const NodeId start = graph.find("start");
  CHECK(OverrideRules(graph).why_not_recomputed(graph.find("whole")).empty());
  PlanRequest request;
  request.overrides.recompute = {start};
  const Plan plan = planned(graph, request);
  CHECK(runs_of(plan, start) == 2);
  CHECK(std::count(plan.backward.begin(), plan.backward.end(), start) == 1);
  CHECK(replay(graph, plan, DeviceRates()).ok());
}

TEST_CASE("collectives: operand and result live until the wait", "[partition]") {
  const Graph graph = parse(kGathered);
  const auto last_use = [&](const Replay& of, const char* name) {
    for (const StorageInstance& instance : of.instances)
      if (instance.owner == graph.find(name)) return instance.last_use;
    return std::size_t{0};
  };
  // In the file's order, two calls run between start and wait.
  const auto in_order = replay_program(graph, DeviceRates());
  CHECK(last_use(in_order, "h") == 4);
  CHECK(in_order.steps[4].node == graph.find("whole"));
  const Plan given = plan_from_saved(graph, {graph.find("whole"), graph.find("e2")});
  const auto replayed = replay(graph, given, DeviceRates());
  REQUIRE(replayed.ok());
  CHECK(last_use(*replayed, "h") == 4);
  CHECK(replayed->steps[4].node == graph.find("whole"));
}

TEST_CASE("collectives: time is that of a ring on the device's link", "[partition][cost]") {
  const Graph graph = parse(R"(graph "net" {
    %x = input f32[80, 10]
    %gather = _c10d_functional.all_gather_into_tensor(%x, 8, "0")
    %scatter = _c10d_functional.reduce_scatter_tensor(%x, "avg", 8, "0")
    %reduce = _c10d_functional.all_reduce(%x, "sum", "0")
    %even = _c10d_functional.all_to_all_single(%x, [20, 20, 20, 20], [20, 20, 20, 20], "0")
    %ring = _c10d_functional.all_to_all_single(%x, [0, 80, 0, 0], [0, 0, 0, 80], "0")
    %from = _c10d_functional.broadcast(%x, 0, "0")
    %alone = _c10d_functional.all_gather_into_tensor(%x, 1, "0")
    %each = _c10d_functional.all_reduce_coalesced([%x, %x], "sum", "0")
    %wait = _c10d_functional.wait_tensor(%gather)
    results %wait, %scatter, %reduce, %even, %ring, %from, %alone
  })");
  DeviceRates rates;
  rates.bytes_per_second = 1e30;
  rates.launch_micros = 5;
  rates.link = {1e6, 3};  // a byte a microsecond
  const auto micros = [&](const char* name) {
    return node_micros(graph, graph.find(name), rates) - 5;
  };
  CHECK(micros("gather") == Catch::Approx(7 * 3 + 8 * 3200 * 7 / 8.0));
  CHECK(micros("scatter") == Catch::Approx(7 * 3 + 3200 * 7 / 8.0));
  CHECK(micros("reduce") == Catch::Approx(2 * (3 + 3200)));  // the group's size isn't told
  CHECK(micros("even") == Catch::Approx(3 * 3 + 3200 * 3 / 4.0));
  CHECK(micros("ring") == Catch::Approx(3 * 3 + 3200));
  CHECK(micros("from") == Catch::Approx(3 + 3200));
  CHECK(micros("alone") == Catch::Approx(0).margin(1e-9));
  CHECK(micros("each") == Catch::Approx(2 * (3 + 6400)));
  CHECK(node_micros(graph, graph.find("wait"), rates) == 0);
  // The rates of memory still count.
  rates.bytes_per_second = 1;
  CHECK(micros("scatter") == Catch::Approx(1e6 * (3200 + 400)));
}

// Backward reads a, which an unknown operator makes; b may have effects, and nobody reads it.
constexpr const char* kUnknownCalls = R"(graph "net" {
  %w = parameter f32[64]
  %t = tangent f32[64]
  %s = sin(%w)
  %a = external mine.scale.default(%s) : f32[64]
  %b = external mine.log.default(%s) : f32[64]
  %y = cos(%a)
  %g = mul.Tensor(%t, %a)
  %c = external mine.log.default(%g) : f32[64]
  results %y
  gradients %g
}
)";

TEST_CASE("unknown calls: run again where the user says so, else once", "[partition]") {
  const Graph graph = parse(kUnknownCalls);
  const NodeId a = graph.find("a");
  CHECK(runs_of(planned(graph, {}), a) == 1);
  CHECK(OverrideRules(graph).why_not_recomputed(a).empty());
  PlanRequest request;
  request.overrides.recompute = {a};
  const Plan plan = planned(graph, request);
  CHECK(runs_of(plan, a) == 2);
  CHECK(replay(graph, plan, DeviceRates()).ok());
}

TEST_CASE("unknown calls: those that nobody reads are kept, each in its pass", "[partition]") {
  const Graph graph = without_dead_nodes(parse(kUnknownCalls));
  REQUIRE(graph.contains(graph.find("b")));
  REQUIRE(graph.find("c").valid());
  const StorageModel storages(graph);
  std::vector<Plan> plans{plan_from_saved(graph, {graph.find("a")}), planned(graph, {})};
  PlanRequest torch;
  torch.strategy = "torch";
  plans.push_back(planned(graph, torch));
  PlanRequest fused;
  fused.groups = fuse_pointwise(graph, storages);
  plans.push_back(planned(graph, fused));
  for (const Plan& plan : plans) {
    CHECK(std::count(plan.forward.begin(), plan.forward.end(), graph.find("b")) == 1);
    CHECK(std::count(plan.backward.begin(), plan.backward.end(), graph.find("c")) == 1);
    CHECK(runs_of(plan, graph.find("b")) == 1);
  }
}

}  // namespace
}  // namespace recut

// Properties of the plans of forward graphs: random ones, and small ones whose plans are known.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/text.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/printer.h"
#include "engine/partition/baseline.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/verifier.h"
#include "tests/effort.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

Graph graph_of(const std::string& text) {
  auto graph = parse_graph_text(text, "test");
  if (!graph) FAIL(format(graph.diagnostics()));
  return std::move(*graph);
}

PlanOutcome outcome_of(const Graph& graph, const PlanRequest& request) {
  auto outcome = make_plan(graph, request);
  if (!outcome) FAIL(format(outcome.diagnostics()));
  return std::move(*outcome);
}

// Replays and schedules the plan, and evaluates it call by call: same values, same peak.
Replay check_plan(const Graph& graph, const PlanRequest& request, const PlanOutcome& outcome) {
  const StorageModel storages(graph);
  CHECK(outcome.plan.saved.empty());
  CHECK(outcome.plan.backward.empty());
  const auto replayed = replay(graph, storages, outcome.plan, {}, request.groups);
  if (!replayed) FAIL(format(replayed.diagnostics()));
  REQUIRE(outcome.proof.has_value());
  if (const auto* budget = std::get_if<PeakBytes>(&request.budget)) {
    CHECK(outcome.proof->holds == (replayed->peak_bytes <= budget->value));
    if (!outcome.proof->holds) CHECK(outcome.proof->min_peak_bytes == replayed->peak_bytes);
  }
  CHECK(outcome.proof->peak_bound_bytes <= replayed->peak_bytes);
  const auto schedule = make_schedule(graph, {storages, request.groups}, outcome.plan);
  if (!schedule) FAIL(format(schedule.diagnostics()));
  CHECK(format(verify_schedule(graph, storages, outcome.plan, *schedule)) == "");
  for (const StorageInstance& instance : replayed->instances)
    CHECK(instance.kind != InstanceClass::saved);
  return *replayed;
}

void check_values(const Graph& graph, const Plan& plan, std::int64_t peak_bytes,
                  std::uint64_t seed) {
  const Inputs inputs = test::inputs_for(graph, seed, test::Values::ordinary);
  const auto expected = evaluate(graph, inputs);
  const auto found = evaluate(graph, plan, inputs);
  if (!expected || !found) FAIL(format(expected ? found.diagnostics() : expected.diagnostics()));
  CHECK(test::outputs_difference(expected->outputs, found->outputs) == "");
  CHECK(found->peak_bytes == peak_bytes);
}

TEST_CASE("inference: random forward graphs at random budgets keep peak and values",
          "[partition][random]") {
  const std::uint64_t count = test::tries(150);
  std::uint64_t planned = 0, recomputing = 0, reordered = 0;
  for (std::uint64_t seed = 1; planned < count; ++seed) {
    const Graph graph = test::random_graph(seed);
    if (is_joint(graph)) continue;
    INFO("seed " << seed << "\n" << print(graph));
    ++planned;
    test::Random random(seed);
    PlanRequest request;
    request.limits.effort = 0.2;
    const bool fused = random.one_in(3);
    if (fused) request.groups = fuse_pointwise(graph, StorageModel(graph), Fusion::rows);
    const PlanOutcome free = outcome_of(graph, request);
    const Replay once = check_plan(graph, request, free);
    CHECK(once.recomputed.empty());
    const std::int64_t in_program_order = baseline_step(graph).peak_bytes;
    if (!fused) {
      CHECK(once.peak_bytes <= in_program_order);
      check_values(graph, free.plan, once.peak_bytes, seed);
    }
    reordered += once.peak_bytes < in_program_order ? 1 : 0;
    if (once.peak_bytes == 0) continue;
    for (const std::int64_t budget :
         {once.peak_bytes, once.peak_bytes * 3 / 4, random.between(1, once.peak_bytes)}) {
      request.budget = PeakBytes{std::max<std::int64_t>(1, budget)};
      const PlanOutcome outcome = outcome_of(graph, request);
      const Replay replayed = check_plan(graph, request, outcome);
      if (budget >= once.peak_bytes) CHECK(replayed.recomputed.empty());
      recomputing += replayed.recomputed.empty() ? 0 : 1;
      if (!fused) check_values(graph, outcome.plan, replayed.peak_bytes, seed);
    }
  }
  CHECK(reordered > 0);
  CHECK(recomputing > 0);
}

// Two branches from %x that are wide inside and narrow at the end: run one after the other, only
// one is wide at a time.
TEST_CASE("inference: without a budget the order alone lowers the peak", "[partition]") {
  const Graph graph = graph_of(R"(graph "branches" {
  %x = input f32[8, 8]
  %w = parameter f32[8, 64]
  %a = mm(%x, %w)
  %t = exp(%x)
  %b = mm(%t, %w)
  %c = sum.dim_IntList(%a, [1])
  %d = sum.dim_IntList(%b, [1])
  %e = add.Tensor(%c, %d)
  results %e
})");
  const PlanOutcome outcome = outcome_of(graph, {});
  const Replay replayed = check_plan(graph, {}, outcome);
  CHECK(replayed.recomputed.empty());
  // %b beside %t, before %a is made, instead of %a beside %b
  CHECK(replayed.peak_bytes == 8 * 64 * 4 + 8 * 8 * 4);
  CHECK(baseline_step(graph).peak_bytes == 2 * 8 * 64 * 4 + 8 * 8 * 4);
  PlanRequest in_order;
  in_order.strategy = "default";
  const auto default_plan = replay(graph, outcome_of(graph, in_order).plan);
  REQUIRE(default_plan.ok());
  CHECK(default_plan->peak_bytes == baseline_step(graph).peak_bytes);
  check_values(graph, outcome.plan, replayed.peak_bytes, 1);
}

// As in a U-Net: %wide is alive across the deep part unless it is made again after that.
constexpr const char* kSkip = R"(graph "skip" {
  %x = input f32[4, 4]
  %w = parameter f32[4, 64]
  %u = parameter f32[64, 4]
  %v = parameter f32[4, 96]
  %wide = mm(%x, %w)
  %narrow = mm(%wide, %u)
  %deep = mm(%narrow, %v)
  %small = sum.dim_IntList(%deep, [1])
  %scaled = mul.Tensor(%wide, 2)
  %last = sum.dim_IntList(%scaled, [1])
  %sum = add.Tensor(%small, %last)
  results %sum
})";

TEST_CASE("inference: a budget below every order is held by recomputation", "[partition]") {
  const Graph graph = graph_of(kSkip);
  const PlanOutcome free = outcome_of(graph, {});
  const std::int64_t once = check_plan(graph, {}, free).peak_bytes;
  PlanRequest request;
  request.budget = PeakBytes{once - 1};
  const PlanOutcome outcome = outcome_of(graph, request);
  const Replay replayed = check_plan(graph, request, outcome);
  INFO("peak " << replayed.peak_bytes << " of " << once);
  if (outcome.proof->holds) CHECK_FALSE(replayed.recomputed.empty());
  check_values(graph, outcome.plan, replayed.peak_bytes, 1);
}

// Random calls and calls that Recut doesn't know run once, whatever the budget.
TEST_CASE("inference: a random call never runs again", "[partition]") {
  const Graph graph = graph_of(R"(graph "draws" {
  %x = input f32[16, 16]
  %r = rand([16, 16], dtype=f32, draw=0)
  %a = mm(%x, %r)
  %b = exp(%a)
  %c = mm(%b, %x)
  %d = add.Tensor(%c, %r)
  results %d
})");
  PlanRequest request;
  request.budget = PeakBytes{1};
  const PlanOutcome outcome = outcome_of(graph, request);
  CHECK_FALSE(outcome.proof->holds);
  const NodeId draw = graph.find("r");
  CHECK(std::count(outcome.plan.forward.begin(), outcome.plan.forward.end(), draw) == 1);
}

// A result that later calls read may be made twice: only its last run stays to the end.
TEST_CASE("inference: results are inputs, views and each other's operands", "[partition]") {
  const Graph graph = graph_of(R"(graph "aliases" {
  %x = input f32[4, 4]
  %turned = permute(%x, [1, 0])
  %e = exp(%x)
  %seen = view(%e, [16])
  %f = mm(%e, %x)
  %g = mm(%f, %e)
  results %x, %turned, %e, %seen, %g, %e
})");
  for (const std::int64_t bytes : {1024, 192, 128, 1}) {
    PlanRequest request;
    request.budget = PeakBytes{bytes};
    const PlanOutcome outcome = outcome_of(graph, request);
    check_values(graph, outcome.plan, check_plan(graph, request, outcome).peak_bytes, 2);
  }
}

TEST_CASE("inference: what backward alone could take is refused", "[partition]") {
  const Graph graph = graph_of(kSkip);
  PlanRequest request;
  request.strategy = "torch";
  const auto torch = make_plan(graph, request);
  REQUIRE_FALSE(torch.ok());
  CHECK(format(torch.diagnostics()).find("a forward graph has no backward") != std::string::npos);
  const OverrideRules rules(graph);
  CHECK(rules.why_not_saved(graph.find("wide")).starts_with("is of a forward graph"));
  CHECK(rules.why_not_recomputed(graph.find("wide")).starts_with("is of a forward graph"));
}

}  // namespace
}  // namespace recut

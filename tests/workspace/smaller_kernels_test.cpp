// Budgets that row kernels can't hold are held by smaller kernels.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "engine/schedule/verifier.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "engine/workspace/sweep_document.h"
#include "tests/effort.h"
#include "tests/paths.h"

namespace recut {
namespace {

// One graph under the fused model's two sizes of kernels.
struct Fused {
  explicit Fused(const std::string& path, bool forward = false)
      : document(open(path, forward)),
        rows(*find_cost_model(std::string(kReferenceDevice), "fused")),
        chains(*rows.with_smaller_kernels()),
        baseline_cost(*rows.baseline_cost(document.reference_graph(), document.graph())) {}

  static Document open(const std::string& path, bool forward) {
    OpenOptions options;
    if (forward) options.differentiate = GradMode::reverse;
    auto document = open_document(RECUT_SOURCE_DIR "/samples/" + path, options);
    REQUIRE(document.ok());
    return std::move(*document);
  }
  static PlanningRequest request(const std::string& budget) {
    PlanningRequest request;
    request.budget = budget;
    request.cost_model = "fused";
    request.limits.effort = 0.05;
    return request;
  }

  PlanReport with(const CostModel& costs, const std::string& budget) const {
    const auto planned = plan_document(document, request(budget), costs, baseline_cost);
    REQUIRE(planned.ok());
    return planned->report;
  }
  PlanReport with_either(const std::string& budget) const {
    const auto planned = plan_document(document, request(budget));
    REQUIRE(planned.ok());
    return planned->report;
  }
  ScheduledPlan scheduled(const std::string& budget) const {
    auto scheduled = schedule_document(document, {request(budget), {}});
    REQUIRE(scheduled.ok());
    return std::move(*scheduled);
  }
  std::int64_t least(const CostModel& costs) const { return with(costs, "1").peak_bytes; }

  Document document;
  CostModel rows, chains;
  BaselineCost baseline_cost;
};

std::vector<std::string> joint_samples() {
  const std::filesystem::path folder = RECUT_SOURCE_DIR "/samples";
  std::vector<std::string> paths = {"attention.recut", "dropout.recut", "mlp.recut",
                                    "recompute.recut"};
  for (const auto& entry : std::filesystem::directory_iterator(folder / "joint"))
    if (entry.path().extension() == ".gz")
      paths.push_back("joint/" + entry.path().filename().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_CASE("fusion: no budget is lost to larger kernels", "[workspace]") {
  const auto samples = joint_samples();
  REQUIRE(samples.size() >= 12);
  for (const std::string& path : test::tried(samples)) {
    CAPTURE(path);
    const Fused fused(path);
    const std::int64_t least = fused.least(fused.chains);
    const PlanReport lowest = fused.with_either("1");
    CHECK_FALSE(lowest.holds());
    CHECK(lowest.peak_bytes <= least);
    CHECK(lowest.proof->min_peak_bytes == lowest.peak_bytes);
    CHECK(lowest.proof->peak_bound_bytes <= lowest.peak_bytes);
    for (const std::string& budget :
         {std::string("none"), std::string("60%"), std::string("40%"), std::to_string(least)}) {
      CAPTURE(budget);
      const PlanReport small = fused.with(fused.chains, budget), either = fused.with_either(budget);
      CHECK(either.budget == budget);
      CHECK(either.budget_bytes == small.budget_bytes);
      CHECK((either.holds() || !small.holds()));
      if (either.budget_bytes > 0 && either.holds())
        CHECK(either.peak_bytes <= either.budget_bytes);
      if (either.fusion == Fusion::chains) CHECK_FALSE(fused.with(fused.rows, budget).holds());
    }
  }
}

// A kernel from the mean to what is scaled holds three tensors of 2048 bytes at once.
TEST_CASE("fusion: smaller kernels hold what kernels of rows can't", "[workspace][schedule]") {
  const Fused fused("blocks/layer_norm.recut", true);
  CHECK(fused.least(fused.rows) == 6144);
  CHECK(fused.least(fused.chains) == 4224);
  CHECK(fused.with_either("1").peak_bytes == 4224);
  CHECK(fused.with_either("none").fusion == Fusion::rows);
  CHECK(fused.with_either("6144").fusion == Fusion::rows);

  const ScheduledPlan wide = fused.scheduled("6144");
  CHECK(wide.holds());
  CHECK(wide.planned.costs.fusion == Fusion::rows);
  CHECK(wide.rounds.size() == 1);
  const ScheduledPlan narrow = fused.scheduled("5000");
  CHECK(narrow.holds());
  CHECK(narrow.schedule.arena_bytes <= 5000);
  CHECK(narrow.planned.costs.fusion == Fusion::chains);
  CHECK(narrow.planned.report.fusion == Fusion::chains);
  CHECK(narrow.planned.report.budget == "5000");
  REQUIRE(narrow.rounds.size() == 2);
  CHECK(narrow.rounds[0].fusion == Fusion::rows);
  CHECK(narrow.rounds[1].fusion == Fusion::chains);
  const Graph& graph = fused.document.graph();
  CHECK(verify_schedule(graph, StorageModel(graph), narrow.planned.plan, narrow.schedule).empty());

  const ScheduledPlan refused = fused.scheduled("4000");
  CHECK_FALSE(refused.holds());
  CHECK(refused.schedule.arena_bytes == 4224);
}

TEST_CASE("curve: below what kernels of rows hold it goes on with smaller ones", "[workspace]") {
  const Fused fused("blocks/layer_norm.recut", true);
  CurveRequest request;
  request.points = 5;
  request.effort = 0.2;
  request.cost_model = "fused";
  const auto curve = sweep_document(fused.document, request);
  REQUIRE(curve.ok());
  const auto& points = curve->report.points;
  REQUIRE(points.size() == 5);
  CHECK(points.front().budget_bytes == 4224);
  CHECK(points.front().fusion == Fusion::chains);
  CHECK(points.back().budget_bytes == 6144);
  CHECK(curve->report.peak_bound_bytes <= 4224);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].peak_bytes <= points[i].budget_bytes);
    if (i > 0) CHECK(points[i].step_us <= points[i - 1].step_us);
    PlanFindings findings;
    findings.fusion = points[i].fusion;
    const auto measured = measure_plan(fused.document, Fused::request("none"), fused.rows,
                                       fused.baseline_cost, curve->plans[i], findings);
    REQUIRE(measured.ok());
    CHECK(measured->costs.fusion == points[i].fusion);
    CHECK(measured->report.peak_bytes == points[i].peak_bytes);
    CHECK(measured->report.step_us == points[i].step_us);
  }
}

}  // namespace
}  // namespace recut

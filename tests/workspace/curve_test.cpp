// Curves of real graphs: their ends, their order, and that every figure is its plan's own.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/partition/replay.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/curve_export.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/sweep_document.h"
#include "tests/effort.h"
#include "tests/paths.h"

namespace recut {
namespace {

Document opened(const std::string& name, const std::string& key = "joint") {
  OpenOptions options;
  options.graph_key = key;
  auto document = open_document(RECUT_SOURCE_DIR "/samples/joint/" + name + ".json.gz", options);
  REQUIRE(document.ok());
  return std::move(*document);
}

Document of_text(const char* text) {
  auto document = open_document_bytes(text, "test", {});
  REQUIRE(document.ok());
  return std::move(*document);
}

Curve swept(const Document& document, std::size_t points, double effort = 0.2) {
  CurveRequest request;
  request.points = points;
  request.effort = effort;
  auto curve = sweep_document(document, request);
  REQUIRE(curve.ok());
  return std::move(*curve);
}

void check_points(const Document& document, const Curve& curve) {
  const auto& points = curve.report.points;
  REQUIRE(curve.plans.size() == points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    CAPTURE(i);
    const auto measured = replay(document.graph(), curve.plans[i]);
    REQUIRE(measured.ok());
    CHECK(measured->peak_bytes == points[i].peak_bytes);
    CHECK(measured->recompute_us == points[i].recompute_us);
    CHECK(measured->step_us == points[i].step_us);
    CHECK(measured->saved_bytes == points[i].saved_bytes);
    CHECK(points[i].peak_bytes <= points[i].budget_bytes);
    CHECK(points[i].peak_bytes >= curve.report.peak_bound_bytes);
    CHECK(points[i].recompute_bound_us <= points[i].recompute_us + 1e-3);
    if (i == 0) continue;
    CHECK(points[i].budget_bytes > points[i - 1].budget_bytes);
    CHECK(points[i].recompute_us <= points[i - 1].recompute_us);
    CHECK(points[i].step_us <= points[i - 1].step_us);
    CHECK(points[i].recompute_bound_us <= points[i - 1].recompute_bound_us + 1e-3);
  }
}

TEST_CASE("curve: monotone, both ends there, every figure replayed", "[workspace]") {
  for (const char* name : test::tried<const char*>({"tiny_conv", "tiny_lm", "tiny_lstm", "unet"})) {
    CAPTURE(name);
    const Document document = opened(name);
    const Curve curve = swept(document, 20);
    check_points(document, curve);
    const auto& points = curve.report.points;
    REQUIRE(points.size() >= 2);
    CHECK(points.size() <= 20);
    CHECK(points.back().recompute_us == 0);
    CHECK(points.back().optimal);
    CHECK(points.front().peak_bytes == points.front().budget_bytes);
    CHECK(curve.report.complete);
    CHECK(curve.report.torch.size() == 8);
  }
}

TEST_CASE("curve: it begins at the least peak that a plan names, and that holds", "[workspace]") {
  for (const char* name : test::tried<const char*>({"tiny_lm", "unet"})) {
    CAPTURE(name);
    const Document document = opened(name);
    const std::int64_t least = swept(document, 10).report.points.front().budget_bytes;
    PlanningRequest request;
    request.limits.effort = 0.2;
    request.budget = "1";
    const auto at_once = plan_document(document, request);
    REQUIRE(at_once.ok());
    const PeakProof proof = *at_once->report.proof;
    CHECK(proof.min_peak_bytes >= least);
    if (!proof.optimal)
      CHECK(infeasible_budget_text(at_once->report).find("by a short search") != std::string::npos);
    request.budget = std::to_string(proof.min_peak_bytes);
    CHECK(plan_document(document, request)->report.holds());
    // If the budget isn't proved infeasible, planning runs the curve's own search.
    request.budget = std::to_string(proof.peak_bound_bytes);
    const auto refused = plan_document(document, request);
    REQUIRE(refused.ok());
    REQUIRE_FALSE(refused->report.holds());
    CHECK(refused->report.proof->min_peak_bytes == least);
    CHECK(infeasible_budget_text(refused->report).find("short") == std::string::npos);
    request.budget = std::to_string(least);
    CHECK(plan_document(document, request)->report.holds());
  }
}

TEST_CASE("curve: the same request gives the same curve", "[workspace]") {
  const Document document = opened(test::kSanitized ? "tiny_conv" : "unet");
  const Curve a = swept(document, 12), b = swept(document, 12);
  REQUIRE(a.plans.size() == b.plans.size());
  for (std::size_t i = 0; i < a.plans.size(); ++i) {
    CHECK(a.plans[i].forward == b.plans[i].forward);
    CHECK(a.plans[i].backward == b.plans[i].backward);
  }
}

TEST_CASE("curve: PyTorch's own points are the file's where it has them", "[workspace]") {
  const Curve recorded = swept(opened("mlp", "joint_after_passes"), 2);
  CHECK(recorded.report.torch_recorded);
  CHECK(recorded.report.torch.size() == 8);
  CHECK(recorded.report.torch.front().fraction == 1);
  CHECK_FALSE(swept(opened("mlp"), 2).report.torch_recorded);
}

TEST_CASE("curve: it is shown coarsely before it is complete", "[workspace]") {
  const Document document = opened("unet");
  CurveRequest request;
  request.effort = 0.2;
  std::vector<std::size_t> shown;
  request.on_curve = [&](const Curve& curve) {
    const CurveReport& report = curve.report;
    shown.push_back(report.points.size());
    CHECK_FALSE(report.complete);
    for (std::size_t i = 1; i < report.points.size(); ++i) {
      CHECK(report.points[i - 1].budget_bytes < report.points[i].budget_bytes);
      CHECK(report.points[i - 1].saved_bytes > 0);
    }
  };
  REQUIRE(sweep_document(document, request).ok());
  REQUIRE(shown.size() >= 3);
  CHECK(shown.front() == 1);
}

TEST_CASE("curve: plans with overrides are shown, too", "[workspace]") {
  const Document document = opened("tiny_conv");
  CurveRequest request;
  request.points = 4;
  request.effort = 0.2;
  request.overrides.recompute = {"relu"};
  int shown = 0;
  request.on_curve = [&](const Curve& curve) {
    ++shown;
    CHECK(curve.plans.size() == curve.report.points.size());
  };
  REQUIRE(sweep_document(document, request).ok());
  CHECK(shown > 0);
}

TEST_CASE("curve: ended at once there is still the plan that recomputes nothing", "[workspace]") {
  const Document document = opened("unet");
  const std::atomic<bool> cancel = true;
  CurveRequest request;
  request.cancel = &cancel;
  const auto curve = sweep_document(document, request);
  REQUIRE(curve.ok());
  CHECK_FALSE(curve->report.complete);
  REQUIRE(curve->report.points.size() >= 1);
  CHECK(curve->report.points.back().recompute_us == 0);
}

TEST_CASE("curve: graphs with nothing to choose have one point", "[workspace]") {
  const Document copy = of_text(R"(graph "g" {
  %x = input f32[4]
  %y = exp(%x) : f32[4]
  results %y
  gradients none
})");
  const Curve curve = swept(copy, 50);
  REQUIRE(curve.report.points.size() == 1);
  CHECK(curve.report.points[0].peak_bytes == 16);
  CHECK(curve.report.points[0].optimal);
  CHECK(curve_text(curve.report).find("least peak") != std::string::npos);
}

TEST_CASE("curve: CSV has the contract's columns, ours before PyTorch's", "[workspace]") {
  const Curve curve = swept(opened("mlp"), 5);
  std::istringstream csv(curve_csv(curve.report));
  std::string line;
  std::getline(csv, line);
  CHECK(line.find("budget_bytes,peak_bytes,step_us,recompute_us,solve_ms,") == 0);
  std::size_t ours = 0, theirs = 0;
  while (std::getline(csv, line)) {
    CHECK(std::count(line.begin(), line.end(), ',') == 9);
    if (line.find(",torch,") != std::string::npos)
      ++theirs;
    else if (theirs == 0)
      ++ours;
  }
  CHECK(ours == curve.report.points.size());
  CHECK(theirs == 8);
  CHECK(nlohmann::json::parse(curve_json(curve.report))["points"].size() == ours);
}

}  // namespace
}  // namespace recut

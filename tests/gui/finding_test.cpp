// What a report finds, in every state that a plan can be in.
#include "gui/report/finding.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace recut::gui {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

PlanReport finding_plan() {
  PlanReport plan;
  plan.strategy = "peak";
  plan.nodes = 2325;
  plan.forward_runs = plan.backward_runs = 10;
  plan.peak_bytes = 400 * kMiB;
  plan.baseline_peak_bytes = 800 * kMiB;
  plan.step_us = 11'000;
  plan.recompute_us = 1'000;
  plan.recomputed.resize(84);
  plan.proof.emplace();
  plan.proof->recompute_bound_us = 990;
  return plan;
}

CurvePoint torch_plan_at(std::int64_t peak_bytes, double recompute_us) {
  CurvePoint point;
  point.peak_bytes = peak_bytes;
  point.recompute_us = recompute_us;
  return point;
}

std::string found(const PlanReport& plan) { return finding_of(plan, nullptr); }
bool begins(const std::string& text, const std::string& part) { return text.rfind(part, 0) == 0; }

TEST_CASE("finding: what a plan recomputes, and how near it is to the bound", "[gui][figures]") {
  PlanReport plan = finding_plan();
  const std::string head =
      "At 400 MiB this step recomputes 84 of its 2,325 nodes: +1.00 ms (10.0 %)";
  CHECK(begins(found(plan), head + ", within 1.0 % of the proved bound."));
  plan.proof->optimal = true;
  CHECK(begins(found(plan), head + ", and no plan within the budget recomputes for less."));
  plan.proof->optimal = false;
  plan.proof->recompute_bound_us = 100;
  CHECK(begins(found(plan), head + ". At least +100 µs are proved."));
  plan.proof->recompute_bound_us = 0;
  CHECK(begins(found(plan), head + ". No bound above nothing is proved."));
  plan.proof.reset();
  CHECK(begins(found(plan), head + ". Strategy peak proves no bound."));
}

TEST_CASE("finding: nothing recomputed, nothing held, no backward", "[gui][figures]") {
  PlanReport plan = finding_plan();
  plan.recompute_us = 0;
  plan.recomputed.clear();
  CHECK(begins(found(plan),
               "At 400 MiB this step recomputes nothing: its order alone takes the "
               "peak down from 800 MiB."));
  plan.baseline_peak_bytes = plan.peak_bytes;
  CHECK(begins(found(plan), "At 400 MiB this step recomputes nothing."));
  plan.proof->holds = false;
  plan.proof->min_peak_bytes = plan.peak_bytes;
  plan.budget_bytes = 100 * kMiB;
  CHECK(begins(found(plan), "The budget isn't held: a peak of 100 MiB"));
  plan.proof->holds = true;
  plan.inference = true;
  CHECK(found(plan) == "At 400 MiB this call recomputes nothing.");
}

TEST_CASE("finding: PyTorch at this peak, above it, with other kernels, unasked",
          "[gui][figures]") {
  const PlanReport plan = finding_plan();
  const auto says = [&](const CurveReport& curve, const std::string& part) {
    const std::string text = finding_of(plan, &curve);
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  CHECK(found(plan).find(" PyTorch's partitioner wasn't run.") != std::string::npos);
  CurveReport curve;
  says(curve, " PyTorch's partitioner wasn't run.");
  curve.torch_recorded = true;
  curve.torch = {torch_plan_at(500 * kMiB, 100), torch_plan_at(450 * kMiB, 3'000)};
  says(curve,
       " PyTorch's partitioner doesn't get there: its lowest peak is 450 MiB, for +3.00 ms.");
  CHECK(torch_at_peak(plan, &curve) == nullptr);
  curve.torch.push_back(torch_plan_at(300 * kMiB, 5'000));
  says(curve, " PyTorch's partitioner needs +5.00 ms, at a peak of 300 MiB.");
  curve.points = {torch_plan_at(290 * kMiB, 2'000), torch_plan_at(310 * kMiB, 1'000)};
  says(curve,
       " PyTorch's partitioner needs +5.00 ms, at a peak of 300 MiB; Recut there: +2.00 ms.");
  curve.torch.push_back(torch_plan_at(400 * kMiB, 4'000));
  says(curve, " PyTorch's partitioner needs +4.00 ms at that peak.");
  curve.torch_recorded = false;
  says(curve, " PyTorch's partitioner, as strategy torch repeats it, needs +4.00 ms at that peak.");
  for (CurvePoint& point : curve.torch) point.fusion = Fusion::rows;
  says(curve, "wasn't run with kernels like these.");
  CHECK(torch_at_peak(plan, nullptr) == nullptr);
}

}  // namespace
}  // namespace recut::gui

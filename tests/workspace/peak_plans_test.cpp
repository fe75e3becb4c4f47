// Plans that hold a peak, run: the same values, and the peak that was planned.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/bytes.h"
#include "engine/input/safetensors.h"
#include "engine/workspace/document.h"
#include "engine/workspace/evaluation.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/effort.h"
#include "tests/paths.h"

namespace recut {
namespace {

// Plans `budget`, or where it can't be held the least peak that can, and runs the plan. Whether the
// budget was held.
bool check_budget(const Document& document, std::span<const NamedTensor> tensors,
                  const std::string& budget) {
  PlanningRequest request;
  request.budget = budget;
  request.limits.effort = 0.05;
  auto planned = plan_document(document, request);
  REQUIRE(planned.ok());
  const bool held = planned->report.holds();
  if (!held) {
    request.budget = std::to_string(planned->report.proof->min_peak_bytes);
    planned = plan_document(document, request);
    REQUIRE(planned.ok());
  }
  CHECK(planned->report.holds());
  CHECK(planned->report.peak_bytes <= planned->report.budget_bytes);
  CHECK(planned->report.proof->peak_bound_bytes <= planned->report.peak_bytes);
  EvaluationRequest run;
  run.tensors = tensors;
  run.plan = &planned->plan;
  const auto evaluated = evaluate_graph(document.graph(), run);
  REQUIRE(evaluated.ok());
  CHECK(evaluated->measured_peak_bytes == planned->report.peak_bytes);
  CHECK(evaluated->agrees());
  return held;
}

TEST_CASE("peak: plans of the tiny graphs give PyTorch's values at every budget", "[workspace]") {
  for (const std::string name : {"tiny_mlp", "tiny_lm", "tiny_conv", "tiny_lstm", "tiny_ops"}) {
    DYNAMIC_SECTION(name) {
      const std::string path = RECUT_SOURCE_DIR "/samples/joint/" + name;
      const auto document = open_document(path + ".json.gz", {});
      const auto bytes = read_file(path + ".safetensors");
      REQUIRE(document.ok());
      REQUIRE(bytes.ok());
      const auto tensors = parse_safetensors(*bytes, name);
      REQUIRE(tensors.ok());
      CHECK(check_budget(*document, *tensors, "100%"));
      for (const std::string& budget : test::tried<std::string>({"60%", "40%", "25%", "1"}))
        check_budget(*document, *tensors, budget);
    }
  }
}

// In this search a run is removed, and its number given to one that is made again elsewhere.
TEST_CASE("peak: what is made again under another's number isn't moved in its place",
          "[workspace]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/joint/tiny_lstm.json.gz", {});
  REQUIRE(document.ok());
  PlanningRequest request;
  request.budget = "1";
  request.cost_model = "fused";
  const auto planned = plan_document(*document, request);
  REQUIRE(planned.ok());
  CHECK_FALSE(planned->report.holds());
  CHECK(planned->report.proof->peak_bound_bytes <= planned->report.peak_bytes);
}

TEST_CASE("peak: a draw from a seed gives the same numbers when it is recomputed", "[workspace]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/dropout.recut", {});
  REQUIRE(document.ok());
  EvaluationRequest plain;
  plain.seed = 7;
  const auto expected = evaluate_graph(document->graph(), plain);
  REQUIRE(expected.ok());
  PlanningRequest request;
  request.strategy = "torch";
  request.budget = "0";
  const auto planned = plan_document(*document, request);
  REQUIRE(planned.ok());
  const NodeId uniform = document->graph().find("uniform");
  const auto& backward = planned->plan.backward;
  REQUIRE(std::find(backward.begin(), backward.end(), uniform) != backward.end());
  EvaluationRequest run = plain;
  run.plan = &planned->plan;
  const auto measured = evaluate_graph(document->graph(), run);
  REQUIRE(measured.ok());
  CHECK(measured->measured_peak_bytes == planned->report.peak_bytes);
  REQUIRE_FALSE(measured->storage.empty());
  CHECK(measured->storage == expected->storage);

  // A draw without a seed runs once: it can't be asked for again.
  request = {};
  request.overrides.recompute = {"drawn"};
  const auto refused = plan_document(*document, request);
  REQUIRE_FALSE(refused.ok());
}

}  // namespace
}  // namespace recut

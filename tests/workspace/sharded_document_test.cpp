// A budget for each device: graphs of ranks as documents, their plans, and the check of their
// values.
#include "engine/workspace/sharded_document.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/input/text.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/sharded_check.h"
#include "engine/workspace/sharding_report.h"
#include "tests/paths.h"

namespace recut {
namespace {

Document opened_sample(const std::string& sample) {
  auto document = open_document(RECUT_SOURCE_DIR "/samples/" + sample, {});
  if (!document) FAIL(format(document.diagnostics()));
  return std::move(*document);
}

Planned planned_within(const Document& document, const std::string& budget) {
  PlanningRequest request;
  request.budget = budget;
  auto plan = plan_document(document, request);
  if (!plan) FAIL(format(plan.diagnostics()));
  return std::move(*plan);
}

TEST_CASE("sharded document: every rank's peak is at most that of rank 0", "[mesh]") {
  const Document whole = opened_sample("recompute.recut");
  for (const char* mesh : {"dp=2", "dp=3", "dp=5,tp=2"}) {
    CAPTURE(mesh);
    MeshRequest request{mesh, "dp=fsdp", {}, {}, 0};
    std::int64_t first = 0;
    const std::int64_t ranks = mesh::DeviceMesh::parse(mesh)->size();
    for (request.rank = 0; request.rank < ranks; ++request.rank) {
      const auto rank = shard_document(whole, request, "recompute");
      if (!rank) FAIL(format(rank.diagnostics()));
      const std::int64_t peak = planned_within(*rank, "none").report.peak_bytes;
      if (request.rank == 0) first = peak;
      CHECK(peak <= first);
    }
  }
}

TEST_CASE("sharded document: a budget for each device is held", "[mesh]") {
  const Document whole = opened_sample("joint/gpt2.json.gz");
  const auto rank = shard_document(whole, {"dp=4,tp=2", "dp=fsdp,tp=tp", {}, {}, 0}, "gpt2");
  if (!rank) FAIL(format(rank.diagnostics()));
  const std::int64_t free_peak = planned_within(*rank, "none").report.peak_bytes;
  CHECK(free_peak < planned_within(whole, "none").report.peak_bytes);
  for (const int percent : {80, 60}) {
    const Planned plan = planned_within(*rank, std::to_string(percent) + "%");
    CHECK(plan.report.peak_bytes * 100 <= free_peak * percent);
  }
}

// A tight budget gathers parameters again in backward, as FSDP does.
TEST_CASE("sharded document: parameters are gathered again where memory is short", "[mesh]") {
  const auto rank =
      shard_document(opened_sample("joint/gpt2.json.gz"), {"dp=2", "dp=fsdp", {}, {}, 0}, "gpt2");
  if (!rank) FAIL(format(rank.diagnostics()));
  const Planned plan = planned_within(*rank, "40%");
  std::map<NodeId, int> runs;
  for (const auto* pass : {&plan.plan.forward, &plan.plan.backward})
    for (const NodeId id : *pass)
      if (rank->graph().op(id).is(kCollective)) ++runs[id];
  CHECK(std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.second == 2; }));
}

TEST_CASE("sharded document: what doesn't fit is refused", "[mesh]") {
  const Document whole = opened_sample("recompute.recut");
  const auto message = [&](const MeshRequest& request) {
    const auto rank = shard_document(whole, request, "recompute");
    REQUIRE_FALSE(rank.ok());
    return rank.diagnostics().front().message;
  };
  CHECK(message({"dp=2", {}, {}, {}, 2}) == "the mesh dp=2 has no rank 2, expected 0 … 1");
  CHECK(message({"dp=2", "dp=ddp", "inputs\n  x [S(0)]\n", "p", 0}) ==
        "a preset and a placement file are given, expected one of them");
  CHECK(message({"dp", {}, {}, {}, 0}).find("mesh: ") == 0);
  CHECK(message({"dp=2", "dp=zero", {}, {}, 0}).find("preset: ") == 0);
}

TEST_CASE("sharded check: presets of real graphs have the values of the whole graph", "[mesh]") {
  for (const char* sample : {"joint/tiny_mlp.json.gz", "joint/tiny_lm.json.gz",
                             "joint/tiny_conv.json.gz", "joint/tiny_lstm.json.gz"})
    for (const auto& [mesh, preset] :
         {std::pair{"dp=2", "dp=ddp"}, std::pair{"dp=3", "dp=fsdp"}, std::pair{"tp=2", "tp=tp"},
          std::pair{"tp=2", "tp=sp"}, std::pair{"dp=2,tp=2", "dp=fsdp,tp=tp"}}) {
      CAPTURE(sample, mesh, preset);
      const Document document = opened_sample(sample);
      const auto check =
          check_sharded(document.graph(), {mesh, preset, {}, {}, 0}, document.file.tensors, 1);
      if (!check) FAIL(format(check.diagnostics()));
      INFO(sharded_check_text(*check));
      CHECK(check->ok());
      CHECK(nlohmann::json::parse(sharded_check_json(*check))["ok"] == true);
    }
}

TEST_CASE("sharded report: its placement file reads back as the preset", "[mesh]") {
  const Document document = opened_sample("joint/tiny_lm.json.gz");
  const auto report = shard_graph(document.graph(), {"dp=2,tp=2", "dp=fsdp,tp=tp", {}, {}, 0});
  REQUIRE(report.ok());
  const auto again =
      shard_graph(document.graph(), {"dp=2,tp=2", {}, report->placement_file, "p", 0});
  REQUIRE(again.ok());
  CHECK(again->placement_file == report->placement_file);
  CHECK(sharding_text(*again) == sharding_text(*report));
}

}  // namespace
}  // namespace recut

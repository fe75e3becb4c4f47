// The commands that debug bundles repeat.
#include "engine/workspace/rerun.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "engine/workspace/open_document.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

using Words = std::vector<std::string>;

PlanningRequest particular_plan() {
  PlanningRequest plan;
  plan.strategy = "default";
  plan.budget = "75%";
  plan.limits.effort = 2;
  plan.limits.seed = 9;
  plan.overrides = {{"a"}, {"h.*.mlp"}, true};
  return plan;
}

TEST_CASE("rerun: usual settings of a plan are left out, others are repeated") {
  PlanningRequest usual;
  CHECK(plan_words(kEvalCommand, usual).empty());
  CHECK(plan_words(kRunCommand, usual) == Words{"--model", "eager"});
  usual.cost_model = "fused";
  CHECK(plan_words(kRunCommand, usual).empty());
  CHECK(plan_words(kEvalCommand, particular_plan()) ==
        Words{"--strategy", "default", "--budget", "75%", "--effort", "2", "--search-seed", "9",
              "--save", "a", "--recompute", "h.*.mlp", "--ignore-checkpoints"});
}

TEST_CASE("rerun: a run has its profile, its seed, and data where it is in the bundle") {
  DebugRequest request;
  request.seed = 3;
  request.with_data = true;
  request.scheduling.planning.cost_model = "fused";
  REQUIRE(rerun_by_run(request, "cpu8", {"--threads", "2"}).ok());
  CHECK(request.rerun.words == Words{"run", kBundleGraph, "--no-passes", "--check", "--steps", "1",
                                     "--no-cache", "--profile", "cpu8", "--threads", "2", "--seed",
                                     "3", "--tensors", kBundleData});
  CHECK(request.profile.empty());

  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/mine.json";
  std::ofstream(path) << "{}";
  REQUIRE(rerun_by_run(request, path).ok());
  CHECK(request.profile == "{}");
  CHECK(std::count(request.rerun.words.begin(), request.rerun.words.end(), kBundleProfile) == 1);
  CHECK(std::count(request.rerun.words.begin(), request.rerun.words.end(), path) == 0);

  const auto refused = rerun_by_run(request, folder.path() + "/none.json");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diagnostics().front().file.find("none.json") != std::string::npos);
}

TEST_CASE("rerun: an evaluation names its data, and says where it is missing") {
  DebugRequest request;
  REQUIRE(rerun_by_eval(request, "reference", false).ok());
  CHECK(request.rerun.words ==
        Words{"eval", kBundleGraph, "--no-passes", "--device", "reference", "--seed", "0"});
  CHECK(request.notes.empty());
  REQUIRE(rerun_by_eval(request, "", true).ok());
  CHECK(request.rerun.words == Words{"eval", kBundleGraph, "--no-passes", "--check", "--tensors",
                                     kBundleData, "--seed", "0"});
  REQUIRE(request.notes.size() == 1);
  CHECK(request.notes.front().find("expected outputs") != std::string::npos);
}

TEST_CASE("rerun: passes are bisected behind the graph whose values they keep") {
  OpenOptions options;
  options.passes = {"noop_removal", "dead_code"};
  options.differentiate = GradMode::reverse;
  const auto document = open_document_bytes(
      "graph \"g\" {\n%x = input f32[4]\n%a = exp(%x)\n%b = mul.Tensor(%a, 1)\nresults %b\n}",
      "g.recut", options);
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  CHECK(reference_pass(*document) == 1);
  DebugRequest request;
  request.seed = 4;
  rerun_by_bisect(request, *document);
  CHECK(request.rerun.words == Words{"bisect", "passes/01-grad.recut", "--passes",
                                     "noop_removal,dead_code", "--seed", "4"});
  const auto bundle = debug_bundle(*document, request);
  REQUIRE(bundle.ok());
  CHECK(bundle->find("passes/01-grad.recut") != nullptr);
  CHECK(bundle->find("README.md")->bytes.find("recut bisect passes/01-grad.recut --seed 4") !=
        std::string::npos);
  rerun_by_bisect(request, kBundleGraphAsRead, {}, {});
  CHECK(request.rerun.words == Words{"bisect", kBundleGraphAsRead, "--no-passes"});
}

}  // namespace
}  // namespace recut

// The table of stages, and the pipelines built from it.
#include "engine/passes/stages.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"

namespace recut {
namespace {

PassResult keep(const Graph& graph) { return {graph, false, {}}; }

Pass custom(std::string_view name) { return {name, "", keep, false, true}; }

using Names = std::vector<std::string>;

Names names_of(const Pipeline& pipeline) {
  RunnerOptions options;
  const auto names = pipeline_names(pipeline, options);
  REQUIRE(names.ok());
  return *names;
}

std::string fault_of(const Pipeline& pipeline) {
  RunnerOptions options;
  const auto names = pipeline_names(pipeline, options);
  REQUIRE_FALSE(names.ok());
  return names.diagnostics().front().message;
}

TEST_CASE("stages: every pass belongs to one, and every name is a pass", "[passes]") {
  const auto belongs = [](std::string_view name) {
    return std::any_of(all_stages().begin(), all_stages().end(), [&](const StageInfo& stage) {
      return std::any_of(stage.passes.begin(), stage.passes.end(),
                         [&](const StagePass& pass) { return pass.name == name; });
    });
  };
  for (const auto& table : {all_passes(), freezing_passes()})
    for (const Pass& pass : table) {
      INFO(pass.name);
      CHECK(belongs(pass.name));
    }
  for (const StageInfo& stage : all_stages()) {
    CHECK(info_of(stage.stage).name == stage.name);
    for (const StagePass& pass : stage.passes) {
      INFO(stage.name << " " << pass.name);
      REQUIRE(find_pass(pass.name) != nullptr);
      // Only stage freezing runs inexact passes by default, and passes that legalize.
      if (pass.runs == RunCondition::always && stage.stage != Stage::freezing)
        CHECK((find_pass(pass.name)->exact || find_pass(pass.name)->by_default));
      // A bit-exact pass there prepares for an inexact one.
      if (pass.runs == RunCondition::inexact) CHECK(!find_pass(pass.name)->by_default);
    }
  }
}

TEST_CASE("stages: joint is what runs where nothing is named", "[passes]") {
  CHECK(names_of({{Stage::joint}, {}, {}}) == default_passes());
}

TEST_CASE("stages: opt-in passes run at their position", "[passes]") {
  const Names names = names_of({{Stage::joint}, {"decompositions", "attention"}, {}});
  const auto place = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  CHECK(names.size() == default_passes().size() + 2);
  CHECK(place("view_chains") < place("attention"));
  CHECK(place("attention") < place("decompositions"));
  CHECK(place("decompositions") < place("dead_code"));
  CHECK(fault_of({{Stage::joint}, {"binary_folding"}, {}})
            .find("unknown pass 'binary_folding' in the stages that run") == 0);
}

TEST_CASE("stages: custom passes before and after each", "[passes]") {
  Pipeline pipeline;
  pipeline.stages = {Stage::joint, Stage::freezing};
  pipeline.custom = {{Stage::joint, StageEdge::before, custom("first")},
                     {Stage::joint, StageEdge::before, custom("second")},
                     {Stage::joint, StageEdge::after, custom("third")},
                     {Stage::freezing, StageEdge::after, custom("fourth")}};
  RunnerOptions options;
  const auto runs = stage_runs(pipeline, options);
  REQUIRE(runs.ok());
  REQUIRE(runs->size() == 2);
  const Names& joint = runs->front().names;
  CHECK(joint[0] == "first");
  CHECK(joint[1] == "second");
  CHECK(joint.back() == "third");
  CHECK(runs->back().names.back() == "fourth");
  CHECK(options.more.size() == 4);
  const auto graph = parse_graph_text("graph \"g\" {\n %x = input f32[2]\n results %x\n}", "test");
  REQUIRE(graph.ok());
  const auto report = run_passes(*graph, joint, options);
  REQUIRE(report.ok());
  CHECK_FALSE(report->failure);
}

TEST_CASE("stages: custom passes that can't run are refused", "[passes]") {
  CHECK(fault_of({{Stage::joint}, {}, {{Stage::freezing, StageEdge::before, custom("mine")}}}) ==
        "'mine' is to run at stage freezing, which doesn't run");
  CHECK(fault_of({{Stage::joint}, {}, {{Stage::joint, StageEdge::before, custom("dead_code")}}}) ==
        "there is a pass 'dead_code' already");
  CHECK(fault_of({{Stage::joint},
                  {},
                  {{Stage::joint, StageEdge::before, custom("mine")},
                   {Stage::joint, StageEdge::after, custom("mine")}}}) ==
        "there is a pass 'mine' already");
}

TEST_CASE("stages: lists of names", "[passes]") {
  CHECK(*parse_stages("pre-grad, joint") == std::vector{Stage::pre_grad, Stage::joint});
  CHECK(parse_stages("")->empty());
  CHECK(parse_stages("joint,jiont").diagnostics().front().message ==
        "unknown stage 'jiont', expected one of pre-grad, joint, post-grad, freezing");
  CHECK(parse_stages("joint,joint").diagnostics().front().message ==
        "stage 'joint' is named twice");
}

}  // namespace
}  // namespace recut

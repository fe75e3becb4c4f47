// Stages: the points between forward graph and compiled code at which passes run.
//
//   forward graph  --pre-grad-->  --recut grad-->  joint graph  --joint-->  plan
//                                         partitioned graphs  --post-grad-->  code
//   inference graph  --joint-->  --freezing-->  code
//
// The table in stages.cpp lists the passes of each stage in order. Callers may add passes of their
// own before and after each stage.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/passes/pipeline_report.h"
#include "engine/support/result.h"

namespace recut {

enum class Stage : std::uint8_t { pre_grad, joint, post_grad, freezing };

// When a pass of a stage runs: always, if inexact passes are enabled, or only if it is named.
enum class RunCondition : std::uint8_t { always, inexact, opt_in };

struct StagePass {
  std::string_view name;
  RunCondition runs = RunCondition::always;
};

struct StageInfo {
  Stage stage;
  std::string_view name;              // "pre-grad"
  std::string_view description;       // the graphs that it is for
  std::span<const StagePass> passes;  // in order
};

// In the order in which a model passes through them.
std::span<const StageInfo> all_stages();
const StageInfo& info_of(Stage stage);

// Parses "pre-grad,joint". Fails if a name is unknown or repeated.
Result<std::vector<Stage>> parse_stages(std::string_view list);
// The same list as text.
std::string stages_text(const std::vector<Stage>& stages);

// The stages of a graph whose weights are frozen: freezing follows the others.
std::vector<Stage> with_freezing(std::vector<Stage> stages);

enum class StageEdge : std::uint8_t { before, after };

// A pass of the caller's own, run before or after a stage. Several at one point run in order.
struct CustomPass {
  Stage stage = Stage::joint;
  StageEdge when = StageEdge::before;
  Pass pass;
};

// The name of that point: "before:joint".
std::string_view name_of(Stage stage, StageEdge when);

// Fails if the stage does not take such a graph: pre-grad and freezing take forward graphs only.
Result<Done> check_stage(Stage stage, const Graph& graph);

// The stages and passes to run.
struct Pipeline {
  std::vector<Stage> stages;
  std::vector<std::string> with;  // opt-in passes of those stages, each at its position in every
                                  // stage that has it
  std::vector<CustomPass> custom;
  // Inexact passes run too, and each stage runs twice: the second round uses the opportunities that
  // later passes create for earlier ones.
  bool inexact = false;
};

// One stage of a pipeline: the names of its passes in order, as run_passes takes them.
struct StageRun {
  Stage stage = Stage::joint;
  std::vector<std::string> names;
};

// The passes that a pipeline runs; its custom passes are added to options.more. Fails if a custom
// pass is at a stage that does not run or has the name of another pass, or if a name in `with` is
// no pass of the stages.
Result<std::vector<StageRun>> stage_runs(const Pipeline& pipeline, RunnerOptions& options);

// The same in one list.
Result<std::vector<std::string>> pipeline_names(const Pipeline& pipeline, RunnerOptions& options);

// The passes of stage joint with inexact passes enabled.
std::vector<std::string> inexact_passes();

}  // namespace recut

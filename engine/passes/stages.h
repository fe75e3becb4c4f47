// Stages: the points of a model's way from forward graph to compiled code at which passes run.
//
//   forward graph  --pre-grad-->  --recut grad-->  joint graph  --joint-->  plan
//                                          the plan's two halves  --post-grad-->  code
//   inference graph  --joint-->  --freezing-->  code
//
// Which passes belong to which stage, and in which order, is the table in stages.cpp. Anyone may
// run passes of their own before and after each stage.
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

// Whether a pass of a stage runs: always; where passes that don't keep every bit are welcome; or,
// because it is a choice, where it is named alone.
enum class Runs : std::uint8_t { always, inexact, named };

struct StagePass {
  std::string_view name;
  Runs runs = Runs::always;
};

struct StageInfo {
  Stage stage;
  std::string_view name;              // "pre-grad"
  std::string_view prose;             // of which graphs
  std::span<const StagePass> passes;  // in order
};

// In the order in which a model goes through them.
std::span<const StageInfo> all_stages();
const StageInfo& info_of(Stage stage);

// "pre-grad,joint": fails where a name is no stage's, or one stands twice.
Result<std::vector<Stage>> parse_stages(std::string_view list);

enum class When : std::uint8_t { before, after };

// A pass of the caller's own, run where a stage begins or ends; those of one time run in order.
struct CustomPass {
  Stage stage = Stage::joint;
  When when = When::before;
  Pass pass;
};

// "before:joint": a name for what stands there.
std::string_view name_of(Stage stage, When when);

// Fails where the graph is none of those that the stage is for: pre-grad and freezing take forward
// graphs alone.
Result<Done> check_stage(Stage stage, const Graph& graph);

// What to run, by stages.
struct Pipeline {
  std::vector<Stage> stages;
  std::vector<std::string> with;  // further passes of those stages that don't run by default, each
                                  // at its own place in every stage that has it
  std::vector<CustomPass> custom;
  // Those that don't keep every bit run too, and each stage twice: what later passes uncover,
  // earlier ones take up the second time.
  bool inexact = false;
};

// One stage of a pipeline: its passes' names in order, as run_passes takes them.
struct StageRun {
  Stage stage = Stage::joint;
  std::vector<std::string> names;
};

// What a pipeline runs; its custom passes join options.more. Fails where a custom pass stands at a
// stage that doesn't run or has the name of another pass, and where a name in `with` is no pass of
// the stages.
Result<std::vector<StageRun>> stage_runs(const Pipeline& pipeline, RunnerOptions& options);

// The same as one list.
Result<std::vector<std::string>> pipeline_names(const Pipeline& pipeline, RunnerOptions& options);

// What stage joint runs where passes that don't keep every bit are welcome.
std::vector<std::string> inexact_passes();

}  // namespace recut

// A document: a file, the passes that ran on its graph, and the resulting graph, which planning and
// everything after it use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/autodiff/optimizer.h"
#include "engine/input/graph_file.h"
#include "engine/input/safetensors.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "engine/rewrite/rule.h"
#include "engine/support/result.h"
#include "engine/workspace/freeze_report.h"
#include "engine/workspace/gradients.h"

namespace recut {

struct OpLibrary;  // op_library.h

// Options of a training step (training.h).
struct TrainingOptions {
  Optimizer optimizer;
  std::string loss;  // empty: the only possible result
};

struct OpenOptions {
  std::string graph_key = std::string(kDefaultGraphKey);
  Dimensions sizes;  // of the file's symbols, by name; others keep their hints
  // Unset: default_passes(), but none where Inductor's joint passes have run: a plan then names the
  // file's own nodes.
  std::optional<std::vector<std::string>> passes;
  std::vector<Stage> stages;              // whose passes run, unless `passes` are set; none: joint
  std::vector<std::string> extra_passes;  // in addition, each in pipeline order
  // The user's rewrite rules, as the pass `rules`: where the passes name it, else last, but before
  // a final dead_code, which then removes the nodes that the rules leave unused.
  std::shared_ptr<const RuleSet> rules;
  // Expansions of operators that Recut lacks: the graph is read with them in place of the calls.
  std::shared_ptr<const OpLibrary> library;
  // Differentiates a forward graph before all other passes, by the pass `grad` or `jvp`
  // (gradients.h). Reverse mode leaves a joint graph as it is.
  std::optional<GradMode> differentiate;
  // Runs the pass `optimizer` (training.h) next. A forward graph is differentiated for it, which
  // takes reverse mode.
  std::optional<TrainingOptions> training;
  // Freezes a forward graph: unless `passes` are set, the stage freezing follows the usual ones.
  // Last, the pass `fold_frozen` folds the weights (frozen_document.h).
  bool freeze = false;
  std::vector<NamedTensor> weights;  // for that, besides the file's values, which they precede
  RunnerOptions runner;
};

// The stages and their passes that run if no passes are named: `stages`, or the stage joint if
// there are none; `freeze`: with the stage freezing.
std::vector<StageRun> stages_for(const GraphFile& file, const std::vector<Stage>& stages,
                                 bool freeze);
// The passes of all these stages.
std::vector<std::string> stage_passes_for(const GraphFile& file, const std::vector<Stage>& stages,
                                          bool freeze);

// Where a stage begins in the report of the passes.
struct StageBegin {
  Stage stage = Stage::joint;
  std::size_t pass = 0;  // the first that belongs to it
};

struct Document {
  GraphFile file;
  PipelineReport passes;
  std::optional<GradMode> differentiated;  // the first pass is `grad` or `jvp`
  std::optional<std::size_t> loss;  // of a training step: among the results. The pass after `grad`,
                                    // or the first, is `optimizer`
  std::vector<StageBegin> stages;   // in order; none where the caller named the passes
  std::optional<FreezeReport> frozen;        // the last pass is `fold_frozen`
  std::vector<NamedTensor> tensors_as_read;  // the file's before that pass, of frozen graphs

  const Graph& graph() const { return passes.graph(); }
  // The graph whose values later passes must preserve: the file's, without calls of nested graphs,
  // or the output of `grad`, `jvp` and `optimizer`.
  const Graph& reference_graph() const;
  // The file's values for that graph.
  const std::vector<NamedTensor>& reference_tensors() const;

  // Work that the passes add to a step, to be shown as the document is opened.
  std::vector<std::string> notes() const;
};

// Fails on a forward graph, for work on a training step. The message names the file and the command
// that makes a joint graph.
Result<Done> check_joint(const Document& document, std::string_view file_name);

}  // namespace recut

// A document: a file, the passes that ran over its graph, and the graph that everything after works
// on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/autodiff/optimizer.h"
#include "engine/input/graph_file.h"
#include "engine/passes/runner.h"
#include "engine/rewrite/rule.h"
#include "engine/support/result.h"

namespace recut {

// What makes a training step of a graph (training.h).
struct TrainingOptions {
  Optimizer optimizer;
  std::string loss;  // empty: the only result that can be one
};

struct OpenOptions {
  std::string graph_key = std::string(kDefaultGraphKey);
  Dimensions sizes;  // of symbols that the file's sizes are made of, by name; others have hints
  // Empty: none. Not named: default_passes(), but none for joint_after_passes, where PyTorch's have
  // run: a plan for that graph then speaks of the file's own nodes.
  std::optional<std::vector<std::string>> passes;
  std::vector<std::string> also;  // besides those: each at its place in the table of passes
  // The user's own, as the pass `rules`: where the passes name it, else after all others, but
  // before a dead_code that ends them, so that what the rules leave unused goes with the rest.
  std::shared_ptr<const RuleSet> rules;
  // A forward graph is differentiated before any other pass, by the pass `grad` (gradients.h).
  bool differentiate = false;
  // The pass `optimizer` (training.h) then, or first: a forward graph is differentiated for it.
  std::optional<TrainingOptions> training;
  RunnerOptions runner;
};

// What runs where no passes are named.
std::vector<std::string> usual_passes(const GraphFile& file);

struct Document {
  GraphFile file;
  PipelineReport passes;
  bool differentiated = false;      // the first pass is `grad`
  std::optional<std::size_t> loss;  // of a training step: among the results. The pass after `grad`,
                                    // or the first, is `optimizer`

  const Graph& graph() const { return passes.graph(); }
  // The program that every pass but `grad` and `optimizer` has to keep the meaning of: the file's
  // graph, or what these made of it.
  const Graph& written() const;
};

// Whether there is something to plan: forward and backward in one. Names the file, and what makes
// a joint graph of a forward one.
Result<Done> check_joint(const Document& document, std::string_view file_name);

}  // namespace recut

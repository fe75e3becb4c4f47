// Freezing: passes for inference, which treat parameters as constants. They are a stage of their
// own, since they are invalid for training (PyTorch's freezing).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/ir/graph.h"
#include "engine/passes/pass.h"
#include "engine/support/result.h"

namespace recut {

// The passes of this stage alone, in order.
std::span<const Pass> freezing_passes();

// A graph with the values of its parameters and constants.
struct Frozen {
  Graph graph;
  Inputs values;  // by parameter and constant
};

// Constant folding with the interpreter: nodes that depend only on parameters and constants with a
// value become constants, under their names. Parameters without other users are removed. Random
// operators and collectives stay.
//
// Each step evaluates one call, so that a window can draw between them. Both arguments outlive the
// folder.
class FrozenFolder {
 public:
  FrozenFolder(const Graph& graph, const Inputs& values);
  FrozenFolder(const FrozenFolder&) = delete;
  FrozenFolder& operator=(const FrozenFolder&) = delete;

  bool step();            // true if there is more to do
  Result<Frozen> take();  // after the last step; fails if the interpreter does

 private:
  void find_roots(const std::set<NodeId>& known);
  void begin();
  Frozen finish(const Graph& graph, const std::map<NodeId, Tensor>& fresh) const;

  const Graph& graph_;
  const Inputs& values_;
  std::vector<NodeId> roots_;               // computed nodes that become constants
  Graph computed_;                          // the operands and calls that compute them
  std::optional<StepEvaluator> evaluator_;  // set once it has begun
  Diagnostics faults_;
};

// All steps at once.
Result<Frozen> fold_frozen(const Graph& graph, const Inputs& values);

// The fold in the report of a document's passes (workspace/frozen_document.h).
inline constexpr std::string_view kFoldFrozenPass = "fold_frozen";
inline constexpr std::string_view kFoldFrozenProse =
    "Computes what depends on weights alone, and drops the weights that nothing else reads.";

}  // namespace recut

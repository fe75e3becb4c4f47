// Freezes a document for inference: everything that depends on its weights alone is computed once,
// and the weights that nothing else reads are dropped.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/input/safetensors.h"
#include "engine/passes/freezing.h"
#include "engine/support/clock.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"

namespace recut {

// The parameters and constants of a graph, in its order.
std::vector<NodeId> weights_of(const Graph& graph);

// Freezes a forward graph after its passes, which should end with the stage freezing. Each step
// reads a weight's value or evaluates a call, so that a window can draw between them. The
// document's graph then ends with the pass `fold_frozen`, its file holds the values of the frozen
// graph, and it has the report (Document::frozen).
class DocumentFreezer {
 public:
  // `tensors` have values besides the file's (in.<name>), and precede them. Their bytes and the
  // document outlive this.
  DocumentFreezer(Document& document, std::span<const NamedTensor> tensors);
  DocumentFreezer(const DocumentFreezer&) = delete;
  DocumentFreezer& operator=(const DocumentFreezer&) = delete;

  bool step();  // true if there is more to do
  // After the last step. Fails on a joint graph, on a value of another dtype or shape, and where
  // the interpreter does.
  Result<Done> finish();

 private:
  void read_weight(NodeId id);

  Document& document_;
  const std::vector<NamedTensor> tensors_;  // the first of a name counts
  const Graph passed_;                      // after the passes
  const Clock::time_point began_ = Clock::now();
  std::vector<NodeId> unread_;  // weights whose values are to be read, from the back
  Inputs values_;
  std::optional<FrozenFolder> folder_;  // once all values are read
  Diagnostics faults_;
};

}  // namespace recut

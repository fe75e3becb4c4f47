// The interpreter of all ranks in one process: rank after rank takes one step, and a collective
// happens once all ranks of its group have come to it. No threads, so that every run is the same.
#pragma once

#include <span>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/mesh/group_table.h"
#include "engine/support/result.h"

namespace recut::mesh {

// The program of a rank: one graph for all of them, or one for each, whose sizes may differ.
struct RankProgram {
  const Graph* graph = nullptr;
  Inputs inputs;
};

// Evaluates the programs of ranks 0, 1, …; one Evaluation for each, with its own outputs and its
// own measured peak. `options` holds for each rank: a seed gives all ranks the same random numbers.
// Fails as evaluate() does (the message begins with the rank), where the calls of a group don't fit
// each other, and where ranks wait for each other for ever: the message tells which rank waits at
// which node, and which rank is elsewhere.
Result<std::vector<Evaluation>> evaluate_ranks(std::span<const RankProgram> programs,
                                               const GroupTable& groups,
                                               const EvaluateOptions& options = {});

}  // namespace recut::mesh

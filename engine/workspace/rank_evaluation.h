// Evaluates a graph with collectives on all ranks, in one process (engine/mesh/lockstep.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

struct RankEvaluationRequest {
  std::int64_t ranks = 1;  // the group that collectives name has all of them
  // Tensors of each rank, or those of all ranks where there is one list.
  std::vector<std::span<const NamedTensor>> tensors;
  // Rank r draws the inputs that it lacks from seed + r; unset: a missing input is an error.
  std::optional<std::uint64_t> seed;
};

struct RankOutput {
  std::string name;
  bool gradient = false;
  bool equal = false;  // the same bits on all ranks
};

struct RankEvaluation {
  std::vector<RankOutput> outputs;
  std::vector<std::int64_t> peak_bytes;  // by rank, measured
};

// Fails as evaluate_ranks() and inputs_from() do, with the rank in the message, and on collectives
// of several groups.
Result<RankEvaluation> evaluate_on_ranks(const Graph& graph, const RankEvaluationRequest& request);

std::string rank_evaluation_text(const RankEvaluation& evaluation);
std::string rank_evaluation_json(const RankEvaluation& evaluation);

}  // namespace recut

// All ranks of a mesh in one process, in lockstep: every rank runs up to its next collective, which
// is then computed for all of them, and so on. No threads: every run is the same, and a rank can't
// wait for one that doesn't come.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/mesh/group_table.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/rank_run.h"
#include "engine/support/result.h"

namespace recut {

// A rank's program and its graph; both outlive LocalRanks.
struct RankSide {
  const Graph* graph = nullptr;
  const Program* program = nullptr;
};

// The messages of one rank, each with its number in front.
Diagnostics with_rank(std::size_t rank, Diagnostics diagnostics);

// The moment at which a collective is computed. Both are right for every sound program: at its
// start the outputs are free, and at its wait the inputs are still there.
enum class CollectiveMoment : std::uint8_t { start, wait };

// Communicators of ranks 0, 1, …, which share this process.
class LocalRanks {
 public:
  // Fails where two ranks' programs make different calls or calls in another order, and where a
  // group is unknown or has a rank that isn't there.
  static Result<LocalRanks> connect(std::vector<RankSide> ranks, mesh::GroupTable groups,
                                    CollectiveMoment moment = CollectiveMoment::start);
  LocalRanks(LocalRanks&&) noexcept;
  ~LocalRanks();

  Communicator& of(std::size_t rank);
  std::span<const RankSide> sides() const { return ranks_; }

 private:
  class Side;
  LocalRanks(std::vector<RankSide> ranks, mesh::GroupTable groups, CollectiveMoment moment);

  struct State;
  std::vector<RankSide> ranks_;
  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<Side>> communicators_;
};

struct LockstepTime {
  double seconds = 0, in_collectives = 0;  // of all ranks, one after another
};

// Runs one step of all ranks; `runs` are those of the ranks' programs. The message of a failure
// begins with the rank.
Result<LockstepTime> run_lockstep(LocalRanks& ranks, std::span<RankRun* const> runs,
                                  std::uint64_t seed);

}  // namespace recut

// The interface between a rank's program and the other ranks: one process with all of them
// (local_ranks.h), or one of several processes.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/runtime/program.h"
#include "engine/support/result.h"

namespace recut {

// A rank's memory in a collective: the storages of the step's inputs and outputs. One that nothing
// reads is null.
struct CollectiveMemory {
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

// One rank's side. An executor calls it for every CollectiveStep of the program, in order. All
// reductions are from the group's first rank to its last (engine/mesh/reduce_ranks.h), so that all
// communicators give the same bits; one that can't has to say so.
class Communicator {
 public:
  virtual ~Communicator() = default;

  // Begins the collective of a step in Program::collectives. The memory stays until its wait.
  virtual Result<Done> start(std::size_t step, CollectiveMemory memory) = 0;

  // Returns once the outputs of the start that this step waits for are written. A start without a
  // wait has ended when start() returns.
  virtual Result<Done> wait(std::size_t step) = 0;
};

}  // namespace recut

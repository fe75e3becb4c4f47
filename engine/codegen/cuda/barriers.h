// Placement of barriers between the threads of a group: before a thread reads an element that
// another stored, or stores one that another reads.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/cuda/mapping.h"

namespace recut::cuda {

class Barriers {
 public:
  Barriers(const loop::Kernel& kernel, const Mapping& mapping)
      : kernel_(kernel), mapping_(mapping), since_(kernel.buffers.size(), 0) {}

  // By buffer, the accesses to it, as a bit set.
  enum : std::uint8_t { kRead = 1, kStoredByFirst = 2, kStoredByAny = 4 };
  using Uses = std::vector<std::uint8_t>;

  // The accesses of a statement that the whole group runs, and of everything inside it.
  Uses uses_of(const loop::Statement& statement) const;
  Uses uses_of(const loop::Block& block) const;

  // Returns true if a barrier is needed before these accesses, and records them.
  bool pass(const Uses& uses);
  // Records accesses that may have happened before, on another path.
  void add(const Uses& uses);
  // A barrier was executed.
  void clear() { since_.assign(since_.size(), 0); }

  const Uses& since() const { return since_; }

 private:
  void note(const loop::Statement& statement, bool in_worksharing, Uses& uses) const;

  const loop::Kernel& kernel_;
  const Mapping& mapping_;
  Uses since_;  // accesses since the last barrier
};

}  // namespace recut::cuda

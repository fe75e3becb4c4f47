// Where the threads of a group have to wait for each other: before one reads what another stored,
// or stores where another reads.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/cuda/mapping.h"

namespace recut::cuda {

class Barriers {
 public:
  Barriers(const loop::Kernel& kernel, const Mapping& mapping)
      : kernel_(kernel), mapping_(mapping), since_(kernel.buffers.size(), 0) {}

  // By buffer, what happens to it: a set of these.
  enum : std::uint8_t { kRead = 1, kStoredByFirst = 2, kStoredByAny = 4 };
  using Uses = std::vector<std::uint8_t>;

  // Of a statement that the group runs alike, and of all that is in it.
  Uses uses_of(const loop::Statement& statement) const;
  Uses uses_of(const loop::Block& block) const;

  // Whether to wait before this happens; it has happened then.
  bool pass(const Uses& uses);
  // This may have happened as well, before now: on another way here.
  void add(const Uses& uses);
  // All have waited for each other.
  void clear() { since_.assign(since_.size(), 0); }

  const Uses& since() const { return since_; }

 private:
  void note(const loop::Statement& statement, bool spread, Uses& uses) const;

  const loop::Kernel& kernel_;
  const Mapping& mapping_;
  Uses since_;  // the last barrier
};

}  // namespace recut::cuda

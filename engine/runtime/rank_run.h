// One rank's step that can run: in parts, between which collectives happen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/runtime/step_run.h"

namespace recut {

class RankRun : public StepRun {
 public:
  // Runs the launches from `first` to before `last`. Fails as run() does.
  virtual Result<Done> run_launches(std::size_t first, std::size_t last, std::uint64_t seed) = 0;

  // The memory of a buffer: in the arena, or an input's.
  virtual std::byte* memory(const BufferAddress& address) const = 0;
};

}  // namespace recut

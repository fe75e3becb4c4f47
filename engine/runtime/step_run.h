// A program with code, memory and inputs: what each executor makes of one, and all that measuring
// and training need of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/runtime/program.h"
#include "engine/support/result.h"

namespace recut {

class StepRun {
 public:
  virtual ~StepRun() = default;

  virtual const Program& program() const = 0;

  // Runs all launches. `launch_seconds`: one a launch, or empty. Fails where the data is at fault:
  // an index that is out of range, a division of integers by zero.
  virtual Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) = 0;

  // Fills the arena, and says up to where it is another one than that since.
  virtual void paint(std::byte with) = 0;
  virtual std::int64_t end_of_written(std::byte paint) const = 0;

  // What a library takes for itself, beside the arena.
  virtual std::int64_t scratch_bytes() const { return 0; }

  // One of the program's outputs, row by row; doesn't exist where there is no gradient.
  virtual Tensor output(std::size_t number) const = 0;
  // Where the storage begins that it is a view of; null where that is in no memory of this
  // program's.
  virtual const std::byte* output_storage(std::size_t) const { return nullptr; }
  // All of them, results first.
  std::vector<Tensor> outputs() const;

 protected:
  StepRun() = default;
  StepRun(StepRun&&) = default;
};

// Where memory ends that is no paint: bytes from its beginning.
std::int64_t end_of_written(std::span<const std::byte> memory, std::byte paint);

}  // namespace recut

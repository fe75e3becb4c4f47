// A program with code, memory and inputs: the interface of every executor to measuring and
// training.
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

  // Runs all launches. `launch_seconds`: one for each launch, or empty. Fails on bad data: an index
  // out of range, or an integer division by zero.
  virtual Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) = 0;

  // Fills the arena with a byte, and returns the end of the bytes that have changed since.
  virtual void paint(std::byte with) = 0;
  virtual std::int64_t end_of_written(std::byte paint) const = 0;

  // Workspace of libraries, outside of the arena, in bytes.
  virtual std::int64_t scratch_bytes() const { return 0; }

  // One of the program's outputs, in row-major order; doesn't exist if there is no gradient.
  virtual Tensor output(std::size_t number) const = 0;
  // The storage that an output is a view of; null if it isn't in this process' memory.
  virtual const std::byte* output_storage(std::size_t) const { return nullptr; }
  // All of them, results first.
  std::vector<Tensor> outputs() const;

 protected:
  StepRun() = default;
  StepRun(StepRun&&) = default;
};

// The end of the last byte that differs from `paint`.
std::int64_t end_of_written(std::span<const std::byte> memory, std::byte paint);

}  // namespace recut

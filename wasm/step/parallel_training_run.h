// A program on several threads of a page, with inputs and outputs in this program's memory, as
// training needs them.
#pragma once

#include <utility>
#include <vector>

#include "wasm/step/parallel_run.h"
#include "wasm/step/step.h"

namespace recut::step {

// Every run copies the current inputs into the step's memory and all outputs back: parameters
// travel both ways with each step.
class ParallelTrainingRun : public StepRun {
 public:
  // As ParallelRun::prepare. The inputs' storages are shared with the caller, which may change them
  // between runs.
  static Result<ParallelTrainingRun> prepare(Program program, std::vector<Tensor> inputs);

  const Program& program() const override { return run_.program(); }
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override { run_.paint(with); }
  std::int64_t end_of_written(std::byte paint) const override { return run_.end_of_written(paint); }
  Tensor output(std::size_t number) const override;
  const std::byte* output_storage(std::size_t number) const override {
    return outputs_.data() + begins_[number];
  }

 private:
  ParallelTrainingRun(ParallelRun run, std::vector<Tensor> inputs, Block outputs,
                      std::vector<std::int64_t> begins)
      : run_(std::move(run)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        begins_(std::move(begins)) {}

  ParallelRun run_;
  std::vector<Tensor> inputs_;
  Block outputs_;                     // storages of the outputs
  std::vector<std::int64_t> begins_;  // offset of each of them, in bytes
};

}  // namespace recut::step

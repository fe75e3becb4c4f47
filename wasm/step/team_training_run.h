// A program on several threads of a page whose inputs and outputs are in this program's memory:
// what training needs.
#pragma once

#include <utility>
#include <vector>

#include "wasm/step/step.h"
#include "wasm/step/team_run.h"

namespace recut::step {

// Every run takes the inputs as they are then, and brings all outputs back: parameters travel to
// the step's memory and back with each step.
class TeamTrainingRun : public StepRun {
 public:
  // As TeamRun::prepare; the inputs' storages are shared with whoever changes them between runs.
  static Result<TeamTrainingRun> prepare(Program program, std::vector<Tensor> inputs);

  const Program& program() const override { return run_.program(); }
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override { run_.paint(with); }
  std::int64_t end_of_written(std::byte paint) const override { return run_.end_of_written(paint); }
  Tensor output(std::size_t number) const override;
  const std::byte* output_storage(std::size_t number) const override {
    return outputs_.data() + begins_[number];
  }

 private:
  TeamTrainingRun(TeamRun run, std::vector<Tensor> inputs, Block outputs,
                  std::vector<std::int64_t> begins)
      : run_(std::move(run)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        begins_(std::move(begins)) {}

  TeamRun run_;
  std::vector<Tensor> inputs_;
  Block outputs_;                     // their storages
  std::vector<std::int64_t> begins_;  // of each of them, in bytes from its beginning
};

}  // namespace recut::step

// Runs a training step (training.h) repeatedly, by any plan and machine code.
//
// Memory: inputs (parameters, optimiser state, one batch) have their own buffers. A step computes
// new values in its arena, as part of the planned peak; after it they are copied over the old ones.
// Steps and copies allocate nothing. A batch is regenerated from its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/eval/inputs.h"
#include "engine/runtime/step_run.h"
#include "engine/workspace/training_data.h"

namespace recut {

struct TrainingInit {
  std::span<const NamedTensor> tensors;  // in.<name>: parameters to begin with, and constants
  std::uint64_t seed = 0;                // of parameters that `tensors` lack, data, random numbers
  int batches = 8;                       // of the data set, cyclic
};

// The state between steps, laid out as kernels read it. The next step may run by another plan.
class TrainingState {
 public:
  // Keeps a reference to `step`; `loss` is an index among its results. Fails as inputs_from does.
  static Result<TrainingState> begin(const Graph& step, std::size_t loss,
                                     const TrainingInit& start);

  const Graph& step() const { return *step_; }
  std::size_t loss() const { return loss_; }
  std::int64_t steps() const { return steps_; }  // steps so far
  const Tensor& input(NodeId id) const { return inputs_.at(id); }
  // The inputs of a program of the graph: tensors that share the state's storages.
  std::vector<Tensor> inputs_of(const Program& program) const;

 private:
  friend class Trainer;
  TrainingState(const Graph& step, std::size_t loss, const TrainingInit& start, Inputs inputs);
  std::uint64_t step_seed() const { return seed_ + static_cast<std::uint64_t>(steps_); }
  void load_batch();

  const Graph* step_;
  std::size_t loss_;
  std::uint64_t seed_;
  int batches_;
  Inputs inputs_;
  TrainingData data_;
  std::int64_t steps_ = 0;
};

// Binds a state to a plan's machine code, both by reference. The run reads the state's storages
// (inputs_of) and writes outputs in host memory (StepRun::output_storage).
class Trainer {
 public:
  Trainer(TrainingState& state, StepRun& run);

  // Runs the next step without committing it, and measures how far it writes into its arena.
  Result<std::int64_t> measure_peak();

  // load_batch() loads the next step's batch; step() runs it and returns the loss before its
  // update.
  void load_batch() { state_.load_batch(); }
  Result<double> step();

 private:
  // An output of the step that is copied over an input of the same shape.
  struct Carry {
    Layout layout;
    const std::byte* from;
    Tensor to;
    std::vector<std::int64_t> at;  // a loop counter, all zeros between copies

    void copy();
  };
  Carry carry(const ProgramOutput& output, const std::byte* from, Tensor to) const;

  TrainingState& state_;
  StepRun& run_;
  std::vector<Carry> carries_;
};

}  // namespace recut

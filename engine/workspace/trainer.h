// Trains: runs a step that updates its parameters (training.h), again and again, by whatever plan
// and machine code.
//
// Memory: inputs, that is parameters, what the optimiser keeps and one batch, have places of their
// own. A step computes their new values in its arena, where they are a part of the planned peak,
// and they are copied over the old ones when it has ended. Steps and copies allocate nothing; a
// batch is made anew from its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/eval/inputs.h"
#include "engine/runtime/step_run.h"
#include "engine/workspace/training_data.h"

namespace recut {

struct TrainingStart {
  std::span<const NamedTensor> tensors;  // in.<name>: parameters to begin with, and constants
  std::uint64_t seed = 0;                // of parameters that `tensors` lack, data, random numbers
  int batches = 8;                       // of the data set, in turn
};

// What goes from step to step, laid out as kernels read it. It outlives plans: the next step may
// run by another one.
class TrainingState {
 public:
  // `step` is kept by reference; `loss` is a place among its results. Fails as inputs_from does.
  static Result<TrainingState> begin(const Graph& step, std::size_t loss,
                                     const TrainingStart& start);

  const Graph& step() const { return *step_; }
  std::size_t loss() const { return loss_; }
  std::int64_t steps() const { return steps_; }  // that were made
  const Tensor& input(NodeId id) const { return inputs_.at(id); }
  // What a program of the graph reads, to prepare its run with: tensors that share the state's
  // storages.
  std::vector<Tensor> read_by(const Program& program) const;

 private:
  friend class Trainer;
  TrainingState(const Graph& step, std::size_t loss, const TrainingStart& start, Inputs inputs);
  std::uint64_t step_seed() const { return seed_ + static_cast<std::uint64_t>(steps_); }
  void bring_batch();

  const Graph* step_;
  std::size_t loss_;
  std::uint64_t seed_;
  int batches_;
  Inputs inputs_;
  TrainingData data_;
  std::int64_t steps_ = 0;
};

// A state bound to a plan's machine code, both kept by reference. The run reads the state's own
// storages (read_by), and has outputs in this program's memory (StepRun::output_storage).
class Trainer {
 public:
  Trainer(TrainingState& state, StepRun& run);

  // How far into its arena the next step writes (measurement.h). It is run, and not made.
  Result<std::int64_t> measure_peak();

  // Of the next step: its batch; then it is made, and gives the loss before its update.
  void bring_batch() { state_.bring_batch(); }
  Result<double> step();

 private:
  // An output of the step that is copied over an input of the same shape.
  struct Carry {
    Layout layout;
    const std::byte* from;
    Tensor to;
    std::vector<std::int64_t> at;  // all zeros between copies

    void copy();
  };
  Carry carry(const ProgramOutput& output, const std::byte* from, Tensor to) const;

  TrainingState& state_;
  StepRun& run_;
  std::vector<Carry> carries_;
};

}  // namespace recut

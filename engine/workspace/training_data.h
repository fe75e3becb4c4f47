// A small data set that a model can learn, made by seed to fit the model's inputs.
//
// Every sample has a few hidden numbers. Its reals are fixed random functions of them, squashed
// into (-1, 1), and its classes the largest of fixed random linear functions of them: what a model
// is to say of a sample can be found in what it sees of it, whichever input is which. Where all
// inputs are integers, those of two and more dimensions are text: every token has one usual
// successor and a rarer one, and of several inputs each begins one token later than the one before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"

namespace recut {

// What an input is given.
struct DataInput {
  enum class Kind : std::uint8_t {
    reals,    // of a sample: the first dimension counts samples, as in the next two
    classes,  // 0 … bound - 1
    text,     // 0 … bound - 1
    counting  // the same in every batch: 0, 1, … below the bound; reals from 1/2 to 1
  };
  NodeId id;
  Kind kind = Kind::reals;
  std::int64_t bound = 2;  // of integers: index_bound.h, or 2
  std::int64_t shift = 0;  // of text: tokens
};

// The inputs of a training step that are neither parameters, nor tangents, nor carried from step to
// step (carried_inputs). Samples are counted by the first dimension of the first that has one; what
// has another size there is the same in every batch.
std::vector<DataInput> data_inputs(const Graph& step);

class TrainingData {
 public:
  TrainingData(const Graph& step, std::uint64_t seed);

  std::span<const DataInput> inputs() const { return inputs_; }

  // Writes a batch into a tensor of the input's type. The same seed, batch and input give the same
  // values everywhere.
  void write(const DataInput& input, std::int64_t batch, Tensor& into) const;

 private:
  const Graph& step_;
  std::vector<DataInput> inputs_;
  std::uint64_t seed_;
};

}  // namespace recut

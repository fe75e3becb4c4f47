// Whether computed outputs are the expected ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"

namespace recut {

// How far two tensors are apart. Reals agree where ‖found − expected‖₂ ≤ relative·‖expected‖₂ +
// absolute·√n over the finite elements, with NaN where NaN is expected and ±inf where that is;
// relative is 1e-5 and absolute 1e-6 for f32 and f64, and what the fewer bits allow for f16 and
// bf16; relative is more where the comparer says so (`allowed`), for what was computed in fewer
// bits than it is stored. Integers and bools agree where all are equal.
struct Comparison {
  std::int64_t elements = 0;
  double error = 0;  // the left side; for integers and bools: how many differ
  double bound = 0;  // the right side; 0 for integers and bools
  // error / ‖expected‖₂, 0 where both are; of integers and bools the share that differs.
  double relative_error = 0;
  bool ok = false;
  // Whether the error measures the difference: not where the types differ, or where one of the two
  // has a NaN or an infinity that the other hasn't. No rounding excuses these.
  bool measurable = true;
  bool negligible = false;  // both tensors are within absolute·√n: 0, as far as can be told
  std::string problem;      // "" where ok

  // The element (row-major index) that differs most, where any does.
  struct Element {
    std::int64_t index = 0;
    double found = 0, expected = 0;
  };
  std::optional<Element> worst;
};

Comparison compare(const Tensor& found, const Tensor& expected, double allowed = 0);

struct OutputComparison {
  std::size_t position = 0;  // in the list of results, then gradients
  std::string name;          // of the node
  bool gradient = false;
  Comparison comparison;
  std::string unchecked;  // why nothing can be said of this output; "" where `comparison` holds

  // The error that the expected value itself shows when the inputs move in their last bits
  // (allow_rounding). Far more than the bits where a sign or a maximum falls the other way: one
  // relu of a million makes a gradient differ by a thousandth.
  double movement = 0;
  bool is_rounding() const {
    return !comparison.ok && comparison.measurable && comparison.error <= kMovements * movement;
  }
  // In the unit of comparison.relative_error.
  double relative_movement() const {
    return comparison.error > 0 ? comparison.relative_error * (movement / comparison.error) : 0;
  }
  static constexpr double kMovements = 4;

  bool ok() const { return comparison.ok || !unchecked.empty() || is_rounding(); }
};

// One entry for every output that has an expected value. A result that differs from it only because
// the file holds its buffer as it was after the step (updated_buffers.h) is unchecked.
std::vector<OutputComparison> compare_outputs(const Graph& graph, const Inputs& inputs,
                                              std::span<const Tensor> outputs,
                                              std::span<const std::optional<Tensor>> expected,
                                              double allowed = 0);

// For outputs that differ from `expected`: how far the expected values move where every input moves
// in its last bits, or in the last of as many as `allowed` is about. Those that differ by no more
// than a few times that are rounding's. Evaluates the graph again, where any output differs.
Result<Done> allow_rounding(const Graph& graph, const Inputs& inputs,
                            const EvaluateOptions& options,
                            std::span<const std::optional<Tensor>> expected,
                            std::vector<OutputComparison>& outputs, double allowed = 0);

// Whether all of them are, and the largest relative error of those that are checked and aren't
// negligible.
bool all_ok(std::span<const OutputComparison> outputs);
double max_relative_error(std::span<const OutputComparison> outputs);

}  // namespace recut

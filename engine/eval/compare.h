// Compares computed outputs with expected ones.
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

// The difference of two tensors. Reals agree where ‖found − expected‖₂ ≤ relative·‖expected‖₂ +
// absolute·√n over the finite elements, with NaN where NaN is expected and ±inf where that is;
// relative is 1e-5 and absolute 1e-6 for f32 and f64, and larger for reals of 16 and 8 bits. A complex
// number is two reals. The caller may
// allow a larger relative error (`allowed`) for values computed in fewer bits than they are stored.
// Integers and bools agree where all are equal.
struct Comparison {
  std::int64_t elements = 0;
  double error = 0;  // the left side; for integers and bools: the number that differ
  double bound = 0;  // the right side; 0 for integers and bools
  // error / ‖expected‖₂, 0 if both are 0; for integers and bools the share that differs.
  double relative_error = 0;
  bool ok = false;
  // False if the types differ, or if a NaN or an infinity is in only one of the two: the error then
  // means nothing, and rounding is no excuse.
  bool measurable = true;
  bool negligible = false;  // both tensors are within absolute·√n of 0
  std::string problem;      // "" where ok

  // The element (row-major index) that differs most, if any does.
  struct Element {
    std::int64_t index = 0;
    double found = 0, expected = 0;
  };
  std::optional<Element> worst;
};

Comparison compare(const Tensor& found, const Tensor& expected, double allowed = 0);

// The bounds of an output's error, in the order in which they are tried. compare_outputs tries the
// first alone, accuracy.h all of them.
enum class ErrorBound : std::uint8_t {
  dtype,        // rounding to the output's dtype
  interpreter,  // a few times the error of the interpreter in the graph's own dtypes
  perturbed,    // a few times the change of the output under random rounding
  none,         // the error exceeds every bound
};

struct OutputComparison {
  std::size_t position = 0;  // in the list of results, then gradients
  std::string name;          // of the node
  bool gradient = false;
  Comparison comparison;  // ok: within ErrorBound::dtype
  std::string unchecked;  // why this output can't be checked; "" if it was
  ErrorBound bound = ErrorBound::none;

  // On the scale of comparison.relative_error: the error of the interpreter in the graph's own
  // dtypes, and the change under random rounding (0: not measured).
  double interpreter_error = 0, perturbed_error = 0;
  // The error is large, and rounding alone makes it so: the value means little in these dtypes.
  bool ill_conditioned = false;

  // Above the rounding of the dtype, and explained by rounding inside the graph.
  bool is_rounding() const {
    return bound == ErrorBound::interpreter || bound == ErrorBound::perturbed;
  }
  bool ok() const { return comparison.ok || !unchecked.empty() || is_rounding(); }
};

// The input whose value in the file is already the updated one, if `output` is such a result: an
// input without a gradient that `output` depends on, and whose value equals the expected `output`
// bit by bit.
//
// A module's buffer (batch norm's running mean) is an input and, updated, a result. A file recorded
// after an in-place update holds the value *after* the step under both names. The original input is
// lost, and this result can't be checked.
std::optional<NodeId> updated_buffer(const Graph& graph, const Inputs& inputs, NodeId output,
                                     const Tensor& expected);

// One entry for every output that has an expected value. A result that differs only because the
// file holds its buffer in the state after the step (updated_buffer) is unchecked.
std::vector<OutputComparison> compare_outputs(const Graph& graph, const Inputs& inputs,
                                              std::span<const Tensor> outputs,
                                              std::span<const std::optional<Tensor>> expected,
                                              double allowed = 0);

// True if all outputs are ok; and the largest relative error of checked, non-negligible outputs.
bool all_ok(std::span<const OutputComparison> outputs);
double max_relative_error(std::span<const OutputComparison> outputs);

}  // namespace recut

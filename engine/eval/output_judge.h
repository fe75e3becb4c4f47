// One output against the bounds of accuracy.h.
#pragma once

#include <span>

#include "engine/eval/compare.h"
#include "engine/eval/tensor.h"

namespace recut {

// The values of one output, of the same shape and dtype, except that `exact` may be wider.
struct OutputValues {
  const Tensor& found;
  const Tensor& own;    // the interpreter's, in the graph's own dtypes
  const Tensor& exact;  // in f64, or `own` again
  bool in_f64 = false;  // whether `exact` is another evaluation than `own`
};

// Fills the comparison, the bound and the interpreter's error, by the first two bounds.
void judge_output(const OutputValues& values, double allowed, OutputComparison& output);

// Tries the last bound, for an output that exceeds the others. `perturbed`: its values under random
// rounding, at least one.
void judge_by_perturbation(const OutputValues& values, std::span<const Tensor> perturbed,
                           double allowed, OutputComparison& output);

}  // namespace recut

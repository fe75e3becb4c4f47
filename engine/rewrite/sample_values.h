// Input values of a sample, and the comparison of its two sides.
#pragma once

#include <cstdint>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/rewrite/rule.h"

namespace recut {

enum class SampleValues : std::uint8_t {
  ordinary,  // reals in (-2, 2), integers 0 to 2
  edge,      // mostly ±0, ±1, ±inf, NaN, the largest and the smallest of the format
  special,   // ordinary, but for some ±inf and NaN
};

Inputs sample_inputs(const Graph& graph, std::uint64_t seed, SampleValues values);

// The comparison of a sample's outputs before and after the replacement.
struct SampleComparison {
  std::string problem;  // empty if they agree
  double used = 0;      // the largest error, as a fraction of the tolerance
};

// Compares by bits unless the row is inexact. All NaNs are equal, but 0.0 is not -0.0.
SampleComparison compare_sides(const std::vector<Tensor>& expected,
                               const std::vector<Tensor>& found,
                               const std::optional<Inexact>& inexact);

// Describes an output element that is finite where a NaN or an infinity was expected; empty if
// there is none. Rounding explains no such difference.
std::string nonfinite_mismatch(const std::vector<Tensor>& expected,
                               const std::vector<Tensor>& found);

}  // namespace recut

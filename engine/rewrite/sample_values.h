// Values for the inputs of a sample, and how its two sides compare.
#pragma once

#include <cstdint>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/rewrite/rule.h"

namespace recut {

enum class SampleValues : std::uint8_t {
  ordinary,  // reals in (-2, 2), integers 0 to 2
  edge,      // mostly ±0, ±1, ±inf, NaN, the largest and the smallest there are
  special,   // ordinary, but for some ±inf and NaN
};

Inputs sample_inputs(const Graph& graph, std::uint64_t seed, SampleValues values);

// How the outputs of a replaced sample compare with those it had.
struct SampleComparison {
  std::string problem;  // "" where they agree
  double used = 0;      // the largest error, as a part of what the row allows
};

// By bits, where the row doesn't say otherwise: any NaN is a NaN, but 0.0 is not -0.0.
SampleComparison compare_sides(const std::vector<Tensor>& expected,
                               const std::vector<Tensor>& found,
                               const std::optional<Inexact>& inexact);

// What rounding has no part in: "" where no output has a number for a NaN or an infinity.
std::string numbers_for_others(const std::vector<Tensor>& expected,
                               const std::vector<Tensor>& found);

}  // namespace recut

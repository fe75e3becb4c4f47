// Whether two graphs on the same placeholders have the same values in the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/ir/graph.h"

namespace recut::test {

enum class Values {
  ordinary,  // reals in (-2, 2), integers 0 to 2
  edge,      // mostly ±0, ±1, ±inf, NaN and extremes; integers -1 to 2
};

// A value for every placeholder and constant, the same on every platform.
Inputs inputs_for(const Graph& graph, std::uint64_t seed, Values values);

// "" where every result and gradient has the same bits in both (any NaN is a NaN, but 0.0 is not
// -0.0), or where edge values are out of some operator's range. Else what differs.
std::string difference(const Graph& before, const Graph& after, std::uint64_t seed, Values values);

// The same for given outputs.
std::string outputs_difference(const std::vector<Tensor>& before, const std::vector<Tensor>& after);

// The same over a few seeds of both kinds of values.
std::string difference(const Graph& before, const Graph& after);

}  // namespace recut::test

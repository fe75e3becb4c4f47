// A check of values for the search for a guilty pass (engine/passes/bisect.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"
#include "engine/passes/bisect.h"
#include "engine/support/result.h"

namespace recut {

// Holds of graphs on the pool of `original` whose outputs, interpreted, agree with its own
// (engine/eval/compare.h says how closely). `tensors` are the inputs' values, in.<name>; what they
// lack is made by `seed`, and is an error where there is none. Fails where `original` can't be
// evaluated; a later graph that can't be is not good.
Result<GraphCheck> same_values_check(const Graph& original, std::span<const NamedTensor> tensors,
                                     std::optional<std::uint64_t> seed);

}  // namespace recut

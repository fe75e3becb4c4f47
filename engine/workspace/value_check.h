// The check by values for bisecting a pass pipeline (engine/passes/bisect.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"
#include "engine/passes/bisect.h"
#include "engine/support/result.h"

namespace recut {

// The check accepts graphs on the pool of `original` whose evaluated outputs agree with those of
// `original`, within the tolerance of engine/eval/compare.h. `tensors` are input values, in.<name>;
// `seed` generates missing ones, and without it they are an error. Fails if `original` can't be
// evaluated; the check rejects any later graph that can't be.
Result<GraphCheck> same_values_check(const Graph& original, std::span<const NamedTensor> tensors,
                                     std::optional<std::uint64_t> seed);

}  // namespace recut

// Values that follow from a graph alone: counters of loops, bounds, predicates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

using KnownValues = std::vector<std::optional<Tensor>>;  // none: not known before the step runs

// The values of `ids`, given those of the graph's inputs in order. Unknown values, random numbers
// and tensors of more than some thousand elements make all that is computed from them unknown.
KnownValues known_values(const Graph& graph, std::span<const std::optional<Tensor>> inputs,
                         std::span<const NodeId> ids);

// The same where no input is known.
std::optional<Tensor> known_value(const Graph& graph, NodeId id);

// The first element is not 0.
bool is_true(const Tensor& value);

// A loop that runs `body` on its carried values and `whole` as long as `test` holds.
struct KnownLoop {
  const Graph& test;
  const Graph& body;
  KnownValues carried;
  KnownValues whole;
};

// The number of its trips. Fails if it depends on unknown values, or exceeds `most`.
Result<std::int64_t> known_trips(KnownLoop loop, std::int64_t most);

}  // namespace recut

// A nested graph on numbers, applied to tensors of numbers at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ir/builder.h"
#include "engine/ir/graph.h"

namespace recut {

// A value of the nested graph: one number for each element of a tensor whose shape broadcasts to
// that of all, or one tensor that all elements have in common.
struct ElementValue {
  Value value;
  bool differs = false;  // from element to element
};

// The reason that a graph can't be applied so where its leading `numbers` inputs differ; none if it
// can.
std::optional<std::string> why_not_elementwise(const Graph& region, std::size_t numbers);

// Applies a graph that can. Results that are none give invalid values.
std::vector<ElementValue> apply_elementwise(Builder& b, const Graph& region,
                                            const std::vector<ElementValue>& inputs,
                                            const Shape& all);

}  // namespace recut

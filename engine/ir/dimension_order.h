// Orders of dimensions, as permute takes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ir/type.h"

namespace recut {

using DimensionOrder = std::vector<std::int64_t>;

// The dimensions by stride, the outermost in memory first; of equal strides the one with more
// elements. A dense type permuted so is contiguous.
DimensionOrder storage_order(const TensorType& type);

// The order that undoes another one: permute(permute(x, order), inverse_order(order)) is x.
DimensionOrder inverse_order(std::span<const std::int64_t> order);

}  // namespace recut

#include "engine/ir/dimension_order.h"

#include <algorithm>
#include <numeric>

namespace recut {

DimensionOrder storage_order(const TensorType& type) {
  DimensionOrder order(type.shape.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    if (type.strides[i] != type.strides[j]) return type.strides[i] > type.strides[j];
    return type.shape[i] > type.shape[j];
  });
  return order;
}

DimensionOrder inverse_order(std::span<const std::int64_t> order) {
  DimensionOrder inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

}  // namespace recut

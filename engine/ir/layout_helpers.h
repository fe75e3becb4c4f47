// Helpers that the layout rules share.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "engine/ir/layout.h"

namespace recut::layout {

inline std::size_t at(std::int64_t dimension) { return static_cast<std::size_t>(dimension); }
inline std::int64_t rank_of(const Layout& layout) {
  return static_cast<std::int64_t>(layout.shape.size());
}

// Saturating arithmetic on strides: a malformed file may record any numbers, and nothing computed
// from them may overflow.
inline std::int64_t bounded(std::int64_t stride) {
  return std::clamp(stride, -kMaxBytes, kMaxBytes);
}
inline std::int64_t scaled(std::int64_t stride, std::int64_t factor) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(stride, factor, &product))
    return (stride < 0) == (factor < 0) ? kMaxBytes : -kMaxBytes;
  return bounded(product);
}
inline std::int64_t added(std::int64_t a, std::int64_t b) { return bounded(a) + bounded(b); }

// The dimensions, wrapped into [0, rank); a repeated dimension is an error.
inline Result<std::vector<std::size_t>> wrap_distinct(const std::vector<std::int64_t>& dims,
                                                      const Layout& self) {
  std::vector<std::size_t> wrapped;
  std::vector<bool> seen(self.shape.size() + 1, false);
  for (const std::int64_t d : dims) {
    const auto dim = wrap_dimension(d, rank_of(self));
    if (!dim) return dim.diagnostics();
    if (seen[at(*dim)]) return error(fmt::format("dimension {} is named twice", d));
    seen[at(*dim)] = true;
    wrapped.push_back(at(*dim));
  }
  return wrapped;
}

inline Layout reorder(const Layout& self, const std::vector<std::size_t>& order) {
  Layout out{{}, {}, self.offset, false};
  for (const std::size_t d : order) {
    out.shape.push_back(self.shape[d]);
    out.strides.push_back(self.strides[d]);
  }
  return out;
}

// Some views treat a zero-dimensional tensor as one dimension of one element.
inline Layout at_least_one_dimension(Layout self) {
  if (self.shape.empty()) {
    self.shape.push_back(1);
    self.strides.push_back(1);
  }
  return self;
}

// Elements start … start+length-1 of one dimension.
inline Layout narrowed(Layout self, std::size_t dim, std::int64_t start, std::int64_t length) {
  self.offset = added(self.offset, scaled(self.strides[dim], start));
  self.shape[dim] = length;
  return self;
}

}  // namespace recut::layout

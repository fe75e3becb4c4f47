// Layout rules of views that show all elements under other dimensions: permutations, broadcasts,
// and dimensions of size 1. Each rule is O(rank). Outputs' strides follow PyTorch's traced graphs
// to the number, also where a size of 1 would allow any stride.
#include "engine/ir/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "engine/ir/layout_helpers.h"

namespace recut::layout {

LayoutResult alias(const Call&, const Layout& self, std::int64_t) { return self; }

LayoutResult permute(const Call& call, const Layout& self, std::int64_t) {
  const auto dims = call.integers("dims");
  if (dims.size() != self.shape.size())
    return error(
        fmt::format("{} dimensions named for a tensor of {}", dims.size(), self.shape.size()));
  const auto order = wrap_distinct(dims, self);
  if (!order) return order.diagnostics();
  return reorder(self, *order);
}

LayoutResult transpose(const Call& call, const Layout& self, std::int64_t) {
  const auto first = wrap_dimension(call.integer("dim0"), rank_of(self));
  if (!first) return first.diagnostics();
  const auto second = wrap_dimension(call.integer("dim1"), rank_of(self));
  if (!second) return second.diagnostics();
  if (self.shape.empty()) return self;
  Layout out = self;
  std::swap(out.shape[at(*first)], out.shape[at(*second)]);
  std::swap(out.strides[at(*first)], out.strides[at(*second)]);
  return out;
}

LayoutResult t(const Call&, const Layout& self, std::int64_t) {
  if (self.shape.size() > 2)
    return error(fmt::format("at most 2 dimensions are expected, found {}", self.shape.size()));
  Layout out = self;
  std::reverse(out.shape.begin(), out.shape.end());
  std::reverse(out.strides.begin(), out.strides.end());
  return out;
}

LayoutResult movedim(const Call& call, const Layout& self, std::int64_t) {
  const auto source = wrap_distinct(call.integers("source"), self);
  if (!source) return source.diagnostics();
  const auto destination = wrap_distinct(call.integers("destination"), self);
  if (!destination) return destination.diagnostics();
  if (source->size() != destination->size())
    return error(fmt::format("{} dimensions are moved to {} positions", source->size(),
                             destination->size()));
  constexpr std::size_t kFree = static_cast<std::size_t>(-1);
  std::vector<std::size_t> order(self.shape.size(), kFree);
  std::vector<bool> moved(self.shape.size(), false);
  for (std::size_t i = 0; i < source->size() && !order.empty(); ++i) {
    order[(*destination)[i]] = (*source)[i];
    moved[(*source)[i]] = true;
  }
  std::size_t next = 0;
  for (std::size_t& slot : order) {
    if (slot != kFree) continue;
    while (moved[next]) ++next;
    slot = next++;
  }
  return reorder(self, order);
}

namespace {

// The shape with every -1 replaced by the size of self.
Result<Shape> expanded_shape(const Shape& self, Shape requested) {
  if (requested.size() < self.size())
    return error(
        fmt::format("{} dimensions can't be expanded to {}", self.size(), requested.size()));
  const std::size_t added = requested.size() - self.size();
  for (std::size_t i = 0; i < requested.size(); ++i) {
    if (requested[i] == -1 && i >= added) requested[i] = self[i - added];
    if (requested[i] < 0)
      return error(fmt::format("size {} of dimension {} can't be inferred", requested[i], i));
  }
  return requested;
}

// Dimension i of self becomes dimension dims[i] of `shape`; the other dimensions repeat. A new
// dimension of length 1 steps over the next one of self, as PyTorch's traced graphs record it
// (prims.broadcast_in_dim).
LayoutResult broadcast_to(const Layout& self, const Shape& shape,
                          const std::vector<std::size_t>& dims) {
  Layout out{shape, Strides(shape.size(), 0), self.offset, false};
  std::size_t own = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_new = own == dims.size() || dims[own] != i;
    if (is_new && shape[i] == 1) {
      out.strides[i] = own == dims.size() ? 1 : scaled(self.strides[own], self.shape[own]);
    } else if (!is_new) {
      if (self.shape[own] != shape[i] && self.shape[own] != 1)
        return error(fmt::format("{} can't be expanded to {}: dimension {} is {}, not 1",
                                 format_shape(self.shape), format_shape(shape), i,
                                 self.shape[own]));
      if (self.shape[own] == shape[i]) out.strides[i] = self.strides[own];
      ++own;
    }
  }
  return out;
}

}  // namespace

LayoutResult expand(const Call& call, const Layout& self, std::int64_t) {
  const auto shape = expanded_shape(self.shape, call.integers("size"));
  if (!shape) return shape.diagnostics();
  std::vector<std::size_t> dims(self.shape.size());
  std::iota(dims.begin(), dims.end(), shape->size() - dims.size());
  return broadcast_to(self, *shape, dims);
}

LayoutResult broadcast_in_dim(const Call& call, const Layout& self, std::int64_t) {
  const Shape shape = call.integers("shape");
  const auto named = call.integers("broadcast_dimensions");
  if (named.size() != self.shape.size())
    return error(
        fmt::format("{} dimensions named for a tensor of {}", named.size(), self.shape.size()));
  std::vector<std::size_t> dims;
  std::int64_t last = -1;
  for (const std::int64_t d : named) {
    if (d <= last || d >= static_cast<std::int64_t>(shape.size()))
      return error(fmt::format("broadcast_dimensions have to ascend below {}, found {} after {}",
                               shape.size(), d, last));
    last = d;
    dims.push_back(at(d));
  }
  return broadcast_to(self, shape, dims);
}

LayoutResult unsqueeze(const Call& call, const Layout& self, std::int64_t) {
  const auto dim = wrap_dimension(call.integer("dim"), rank_of(self) + 1);
  if (!dim) return dim.diagnostics();
  Layout out = self;
  const std::int64_t stride =
      *dim >= rank_of(self) ? 1 : scaled(self.strides[at(*dim)], self.shape[at(*dim)]);
  out.shape.insert(out.shape.begin() + *dim, 1);
  out.strides.insert(out.strides.begin() + *dim, stride);
  return out;
}

namespace {

Layout without_ones(const Layout& self, const std::vector<bool>& candidate) {
  Layout out{{}, {}, self.offset, false};
  for (std::size_t i = 0; i < self.shape.size(); ++i) {
    if (candidate[i] && self.shape[i] == 1) continue;
    out.shape.push_back(self.shape[i]);
    out.strides.push_back(self.strides[i]);
  }
  return out;
}

}  // namespace

LayoutResult squeeze_all(const Call&, const Layout& self, std::int64_t) {
  return without_ones(self, std::vector<bool>(self.shape.size(), true));
}

LayoutResult squeeze(const Call& call, const Layout& self, std::int64_t) {
  const auto dims = wrap_distinct(call.integers("dim"), self);
  if (!dims) return dims.diagnostics();
  std::vector<bool> named(self.shape.size() + 1, false);
  for (const std::size_t d : *dims) named[d] = true;
  return without_ones(self, named);
}

}  // namespace recut::layout

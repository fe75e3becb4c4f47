// Views that take the same elements under other dimensions.
#include "engine/ir/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ir/layout_steps.h"

namespace recut::layout {

Computed alias(const Call&, const Layout& self, std::int64_t) { return self; }

Computed permute(const Call& call, const Layout& self, std::int64_t) {
  const auto dims = call.integers("dims");
  if (dims.size() != self.shape.size())
    return error(
        fmt::format("{} dimensions named for a tensor of {}", dims.size(), self.shape.size()));
  const auto order = wrap_distinct(dims, self);
  if (!order) return order.diagnostics();
  return reorder(self, *order);
}

Computed transpose(const Call& call, const Layout& self, std::int64_t) {
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

Computed t(const Call&, const Layout& self, std::int64_t) {
  if (self.shape.size() > 2)
    return error(fmt::format("at most 2 dimensions are expected, found {}", self.shape.size()));
  Layout out = self;
  std::reverse(out.shape.begin(), out.shape.end());
  std::reverse(out.strides.begin(), out.strides.end());
  return out;
}

Computed movedim(const Call& call, const Layout& self, std::int64_t) {
  const auto source = wrap_distinct(call.integers("source"), self);
  if (!source) return source.diagnostics();
  const auto destination = wrap_distinct(call.integers("destination"), self);
  if (!destination) return destination.diagnostics();
  if (source->size() != destination->size())
    return error(
        fmt::format("{} dimensions are moved to {} places", source->size(), destination->size()));
  constexpr std::size_t kFree = static_cast<std::size_t>(-1);
  std::vector<std::size_t> order(self.shape.size(), kFree);
  std::vector<bool> moved(self.shape.size(), false);
  for (std::size_t i = 0; i < source->size() && !order.empty(); ++i) {
    order[(*destination)[i]] = (*source)[i];
    moved[(*source)[i]] = true;
  }
  std::size_t next = 0;
  for (std::size_t& place : order) {
    if (place != kFree) continue;
    while (moved[next]) ++next;
    place = next++;
  }
  return reorder(self, order);
}

namespace {

// ATen's inferExpandGeometry, for one output dimension at a time from the last to the first.
Computed expand_to(const Layout& self, const Shape& wanted) {
  if (wanted.size() < self.shape.size())
    return error(
        fmt::format("{} dimensions can't be expanded to {}", self.shape.size(), wanted.size()));
  const std::size_t added = wanted.size() - self.shape.size();
  Layout out{wanted, Strides(wanted.size()), self.offset, false};
  for (std::size_t i = wanted.size(); i-- > 0;) {
    const bool is_new = i < added;
    const std::int64_t size = is_new ? 1 : self.shape[i - added];
    const std::int64_t following =
        i + 1 == wanted.size() ? 1 : scaled(out.strides[i + 1], out.shape[i + 1]);
    out.strides[i] = is_new ? following : self.strides[i - added];
    if (wanted[i] == -1 && !is_new) {
      out.shape[i] = size;
    } else if (wanted[i] < 0) {
      return error(fmt::format("size {} of dimension {} can't be inferred", wanted[i], i));
    } else if (wanted[i] != size) {
      if (size != 1)
        return error(fmt::format("{} can't be expanded to {}: dimension {} is {}, not 1",
                                 format_shape(self.shape), format_shape(wanted), i, size));
      out.strides[i] = 0;
    }
  }
  return out;
}

}  // namespace

Computed expand(const Call& call, const Layout& self, std::int64_t) {
  return expand_to(self, call.integers("size"));
}

Computed broadcast_in_dim(const Call& call, const Layout& self, std::int64_t) {
  const Shape shape = call.integers("shape");
  const auto dims = call.integers("broadcast_dimensions");
  if (dims.size() != self.shape.size())
    return error(
        fmt::format("{} dimensions named for a tensor of {}", dims.size(), self.shape.size()));
  Layout spread{Shape(shape.size(), 1), Strides(shape.size(), 0), self.offset, false};
  std::int64_t last = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= last || dims[i] >= static_cast<std::int64_t>(shape.size()))
      return error(fmt::format("broadcast_dimensions have to ascend below {}, found {} after {}",
                               shape.size(), dims[i], last));
    last = dims[i];
    spread.shape[at(last)] = self.shape[i];
    spread.strides[at(last)] = self.strides[i];
  }
  return expand_to(spread, shape);
}

Computed unsqueeze(const Call& call, const Layout& self, std::int64_t) {
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

Computed squeeze_all(const Call&, const Layout& self, std::int64_t) {
  return without_ones(self, std::vector<bool>(self.shape.size(), true));
}

Computed squeeze(const Call& call, const Layout& self, std::int64_t) {
  const auto dims = wrap_distinct(call.integers("dim"), self);
  if (!dims) return dims.diagnostics();
  std::vector<bool> named(self.shape.size() + 1, false);
  for (const std::size_t d : *dims) named[d] = true;
  return without_ones(self, named);
}

}  // namespace recut::layout

// Layout rules of views of some of the elements: select, slice, diagonal, unfold, and the
// multi-output views (split, chunk, unbind). Every rule narrows dimensions and scales strides in
// O(rank). The *_count functions give the number of outputs; output k is computed by itself.
#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/layout_helpers.h"

namespace recut::layout {

LayoutResult select(const Call& call, const Layout& self, std::int64_t) {
  if (self.shape.empty()) return error("a tensor with dimensions is expected");
  const auto dim = wrap_dimension(call.integer("dim"), rank_of(self));
  if (!dim) return dim.diagnostics();
  const std::int64_t size = self.shape[at(*dim)];
  const std::int64_t index = call.integer("index");
  if (index < -size || index >= size)
    return error(
        fmt::format("index {} is out of range for dimension {} of size {}", index, *dim, size));
  Layout out = narrowed(self, at(*dim), index < 0 ? index + size : index, 1);
  out.shape.erase(out.shape.begin() + *dim);
  out.strides.erase(out.strides.begin() + *dim);
  return out;
}

LayoutResult slice(const Call& call, const Layout& self, std::int64_t) {
  if (self.shape.empty()) return error("a tensor with dimensions is expected");
  const auto dim = wrap_dimension(call.integer("dim"), rank_of(self));
  if (!dim) return dim.diagnostics();
  const std::int64_t step = call.integer("step");
  if (step <= 0) return error(fmt::format("step {} is not positive", step));
  const std::int64_t size = self.shape[at(*dim)];
  // Negative bounds count from the end; bounds outside are clamped.
  const auto clamped = [size](std::int64_t bound) {
    return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const std::int64_t start = clamped(call.maybe_integer("start").value_or(0));
  const std::int64_t end = std::max(start, clamped(call.maybe_integer("end").value_or(size)));
  const std::int64_t length = (end - start) / step + ((end - start) % step != 0 ? 1 : 0);
  Layout out = narrowed(self, at(*dim), start, length);
  out.strides[at(*dim)] = scaled(out.strides[at(*dim)], step);
  return out;
}

LayoutResult narrow(const Call& call, const Layout& self, std::int64_t) {
  if (self.shape.empty()) return error("a tensor with dimensions is expected");
  const auto dim = wrap_dimension(call.integer("dim"), rank_of(self));
  if (!dim) return dim.diagnostics();
  const std::int64_t size = self.shape[at(*dim)];
  const std::int64_t given = call.integer("start");
  const std::int64_t length = call.integer("length");
  const std::int64_t start = given < 0 ? given + size : given;
  if (start < 0 || start > size || length < 0 || length > size - start)
    return error(fmt::format("start {} and length {} leave dimension {} of size {}", given, length,
                             *dim, size));
  return narrowed(self, at(*dim), start, length);
}

LayoutResult diagonal(const Call& call, const Layout& self, std::int64_t) {
  const auto first = wrap_dimension(call.integer("dim1"), rank_of(self));
  if (!first) return first.diagnostics();
  const auto second = wrap_dimension(call.integer("dim2"), rank_of(self));
  if (!second) return second.diagnostics();
  if (*first == *second) return error("a diagonal needs two different dimensions");
  const std::int64_t offset = call.integer("offset");
  const std::int64_t rows = self.shape[at(*first)];
  const std::int64_t columns = self.shape[at(*second)];
  const std::int64_t length = offset >= 0 ? std::min(rows, added(columns, -offset))
                                          : std::min(added(rows, offset), columns);
  Layout out = self;
  const std::int64_t skipped = offset >= 0 ? *second : *first;
  if (length > 0)
    out = narrowed(out, at(skipped), offset >= 0 ? offset : -offset, self.shape[at(skipped)]);
  const std::int64_t stride = added(self.strides[at(*first)], self.strides[at(*second)]);
  for (const std::int64_t d : {std::max(*first, *second), std::min(*first, *second)}) {
    out.shape.erase(out.shape.begin() + d);
    out.strides.erase(out.strides.begin() + d);
  }
  out.shape.push_back(std::max<std::int64_t>(length, 0));
  out.strides.push_back(stride);
  return out;
}

LayoutResult unfold(const Call& call, const Layout& self, std::int64_t) {
  const auto dim = wrap_dimension(call.integer("dimension"), rank_of(self));
  if (!dim) return dim.diagnostics();
  const std::int64_t size = call.integer("size");
  const std::int64_t step = call.integer("step");
  Layout out = at_least_one_dimension(self);
  const std::int64_t length = out.shape[at(*dim)];
  if (size < 0 || size > length)
    return error(fmt::format("windows of {} in dimension {} of size {}", size, *dim, length));
  if (step <= 0) return error(fmt::format("step {} is not positive", step));
  const std::int64_t stride = out.strides[at(*dim)];
  out.shape[at(*dim)] = (length - size) / step + 1;
  out.strides[at(*dim)] = scaled(stride, step);
  // A window of a zero-dimensional tensor replaces the dimension that it never had.
  if (self.shape.empty()) return Layout{{size}, {1}, self.offset, false};
  out.shape.push_back(size);
  out.strides.push_back(stride);
  return out;
}

namespace {

// The dimension that a multi-output view splits.
Result<std::size_t> split_dimension(const Call& call, const Shape& self) {
  if (self.empty()) return error("a tensor with dimensions is expected");
  const auto dim = wrap_dimension(call.integer("dim"), static_cast<std::int64_t>(self.size()));
  if (!dim) return dim.diagnostics();
  return at(*dim);
}

Result<std::int64_t> limited(std::int64_t count) {
  if (count > kMaxOutputs)
    return error(fmt::format("{} outputs, at most {} are supported", count, kMaxOutputs));
  return count;
}

std::int64_t ceiling_quotient(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

Result<std::int64_t> count_of_size(std::int64_t size, std::int64_t part) {
  if (part < 0) return error(fmt::format("split size {} is negative", part));
  if (part == 0 && size != 0) return error("a split size of 0 fits an empty dimension only");
  return limited(part == 0 ? 1 : std::max<std::int64_t>(1, ceiling_quotient(size, part)));
}

Layout part_of_size(const Layout& self, std::size_t dim, std::int64_t part, std::int64_t output) {
  const std::int64_t start = output * part;
  return narrowed(self, dim, start, std::min(part, self.shape[dim] - start));
}

// ATen's chunk: parts of equal size, so that there may be fewer than asked for.
std::int64_t chunk_size(const Call& call, std::int64_t size) {
  return ceiling_quotient(size, call.integer("chunks"));
}

}  // namespace

Result<std::int64_t> unbind_count(const Call& call, const Shape& self) {
  const auto dim = split_dimension(call, self);
  if (!dim) return dim.diagnostics();
  return limited(self[*dim]);
}

LayoutResult unbind(const Call& call, const Layout& self, std::int64_t output) {
  const auto dim = split_dimension(call, self.shape);
  if (!dim) return dim.diagnostics();
  Layout out = narrowed(self, *dim, output, 1);
  out.shape.erase(out.shape.begin() + static_cast<std::ptrdiff_t>(*dim));
  out.strides.erase(out.strides.begin() + static_cast<std::ptrdiff_t>(*dim));
  return out;
}

Result<std::int64_t> split_count(const Call& call, const Shape& self) {
  const auto dim = split_dimension(call, self);
  if (!dim) return dim.diagnostics();
  return count_of_size(self[*dim], call.integer("split_size"));
}

LayoutResult split(const Call& call, const Layout& self, std::int64_t output) {
  const auto dim = split_dimension(call, self.shape);
  if (!dim) return dim.diagnostics();
  return part_of_size(self, *dim, call.integer("split_size"), output);
}

Result<std::int64_t> chunk_count(const Call& call, const Shape& self) {
  const auto dim = split_dimension(call, self);
  if (!dim) return dim.diagnostics();
  const std::int64_t chunks = call.integer("chunks");
  if (chunks <= 0) return error(fmt::format("{} chunks, expected at least one", chunks));
  // An empty dimension gives as many empty chunks as were asked for.
  if (self[*dim] == 0) return limited(chunks);
  return count_of_size(self[*dim], chunk_size(call, self[*dim]));
}

LayoutResult chunk(const Call& call, const Layout& self, std::int64_t output) {
  const auto dim = split_dimension(call, self.shape);
  if (!dim) return dim.diagnostics();
  return part_of_size(self, *dim, chunk_size(call, self.shape[*dim]), output);
}

namespace {

// split.sizes calls them split_size.
std::vector<std::int64_t> part_sizes(const Call& call) {
  const bool plural = call.op().parameter("split_sizes").has_value();
  return call.integers(plural ? "split_sizes" : "split_size");
}

}  // namespace

Result<std::int64_t> split_with_sizes_count(const Call& call, const Shape& self) {
  const auto dim = split_dimension(call, self);
  if (!dim) return dim.diagnostics();
  const auto sizes = part_sizes(call);
  std::int64_t left = self[*dim];
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > left)
      return error(fmt::format("the sizes {} do not add up to dimension {} of size {}",
                               format_shape(sizes), *dim, self[*dim]));
    left -= size;
  }
  if (left != 0)
    return error(
        fmt::format("the sizes {} leave {} of dimension {}", format_shape(sizes), left, *dim));
  return limited(static_cast<std::int64_t>(sizes.size()));
}

LayoutResult split_with_sizes(const Call& call, const Layout& self, std::int64_t output) {
  const auto dim = split_dimension(call, self.shape);
  if (!dim) return dim.diagnostics();
  const auto sizes = part_sizes(call);
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < output; ++i) start += sizes[at(i)];
  return narrowed(self, *dim, start, sizes[at(output)]);
}

}  // namespace recut::layout

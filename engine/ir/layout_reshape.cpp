// Layout rules of views under another shape (view, flatten, unflatten), and of as_strided. A
// reshape is a view if every run of evenly spaced dimensions can be refilled by new dimensions
// (ATen's computeStride, O(rank)); otherwise the result is a contiguous copy.
#include <fmt/core.h>

#include "engine/ir/layout_helpers.h"

namespace recut::layout {

Result<Shape> infer_size(const Shape& requested, std::int64_t count) {
  Shape shape = requested;
  std::int64_t* open = nullptr;
  std::int64_t known = 1;
  for (std::int64_t& size : shape) {
    if (size == -1 && open == nullptr) {
      open = &size;
    } else if (size < 0) {
      return error(fmt::format("size {} in {} can't be inferred", size, format_shape(requested)));
    } else if (__builtin_mul_overflow(known, size, &known)) {
      return error(fmt::format("shape {} is larger than any tensor", format_shape(requested)));
    }
  }
  if (open != nullptr) {
    if (known == 0)
      return error(fmt::format("-1 in {} could be any size", format_shape(requested)));
    *open = count / known;
    known *= *open;
  }
  if (known != count)
    return error(fmt::format("{} elements can't be viewed as {}", count, format_shape(requested)));
  return shape;
}

namespace {

// ATen's computeStride works on runs: consecutive old dimensions whose elements are evenly spaced.
struct Run {
  std::int64_t elements = 1;     // in the old dimensions
  std::int64_t base_stride = 1;  // of the innermost old dimension
};

// Fills the run with new dimensions from `*next` downwards; false if they don't fit it.
bool fill_run(const Run& run, const Shape& shape, std::int64_t* next, Strides& strides) {
  std::int64_t taken = 1;
  while (*next >= 0 && (taken < run.elements || shape[at(*next)] == 1)) {
    strides[at(*next)] = scaled(run.base_stride, taken);
    taken *= shape[at(*next)];
    --*next;
  }
  return taken == run.elements;
}

}  // namespace

std::optional<Strides> strides_of_view(const Layout& self, const Shape& shape) {
  if (element_count(shape) == 0) return contiguous_strides(shape);
  if (self.shape == shape) return self.strides;
  Strides strides(shape.size(), 1);
  if (self.shape.empty()) return strides;
  std::int64_t next = static_cast<std::int64_t>(shape.size()) - 1;
  Run run{1, self.strides.back()};
  for (std::size_t d = self.shape.size(); d-- > 0;) {
    run.elements *= self.shape[d];
    const bool run_ends = d == 0 || (self.shape[d - 1] != 1 &&
                                     self.strides[d - 1] != scaled(run.base_stride, run.elements));
    if (!run_ends) continue;
    if (!fill_run(run, shape, &next, strides)) return std::nullopt;
    if (d > 0) run = Run{1, self.strides[d - 1]};
  }
  if (next != -1) return std::nullopt;
  // Leading dimensions that stay keep their strides, even where a size of 1 allows any: PyTorch's
  // traced graphs record it like this.
  for (std::size_t d = 0; d < shape.size() && d < self.shape.size(); ++d) {
    if (shape[d] != self.shape[d]) break;
    strides[d] = self.strides[d];
  }
  return strides;
}

namespace {

LayoutResult view_as(const Layout& self, const Shape& requested) {
  const auto shape = infer_size(requested, element_count(self.shape));
  if (!shape) return shape.diagnostics();
  if (auto strides = strides_of_view(self, *shape))
    return Layout{*shape, std::move(*strides), self.offset, false};
  return Layout{*shape, contiguous_strides(*shape), 0, true};
}

}  // namespace

LayoutResult view(const Call& call, const Layout& self, std::int64_t) {
  const bool reshapes = call.op().parameter("shape").has_value();
  return view_as(self, call.integers(reshapes ? "shape" : "size"));
}

LayoutResult flatten(const Call& call, const Layout& self, std::int64_t) {
  const auto first = wrap_dimension(call.integer("start_dim"), rank_of(self));
  if (!first) return first.diagnostics();
  const auto last = wrap_dimension(call.integer("end_dim"), rank_of(self));
  if (!last) return last.diagnostics();
  if (*first > *last)
    return error(fmt::format("start_dim {} comes after end_dim {}", *first, *last));
  if (self.shape.empty()) return view_as(self, {1});
  if (*first == *last) return self;
  Shape shape(self.shape.begin(), self.shape.begin() + *first);
  std::int64_t merged = 1;
  for (std::int64_t d = *first; d <= *last; ++d) merged *= self.shape[at(d)];
  shape.push_back(merged);
  shape.insert(shape.end(), self.shape.begin() + *last + 1, self.shape.end());
  return view_as(self, shape);
}

LayoutResult unflatten(const Call& call, const Layout& self, std::int64_t) {
  const auto dim = wrap_dimension(call.integer("dim"), rank_of(self));
  if (!dim) return dim.diagnostics();
  if (self.shape.empty()) return error("a tensor with dimensions is expected");
  const auto inner = infer_size(call.integers("sizes"), self.shape[at(*dim)]);
  if (!inner) return inner.diagnostics();
  Shape shape(self.shape.begin(), self.shape.begin() + *dim);
  shape.insert(shape.end(), inner->begin(), inner->end());
  shape.insert(shape.end(), self.shape.begin() + *dim + 1, self.shape.end());
  return view_as(self, shape);
}

LayoutResult as_strided(const Call& call, const Layout& self, std::int64_t) {
  Layout out{call.integers("size"), call.integers("stride"),
             call.maybe_integer("storage_offset").value_or(self.offset), false};
  if (out.shape.size() != out.strides.size())
    return error(
        fmt::format("{} strides given for {} sizes", out.strides.size(), out.shape.size()));
  const auto beyond = [](std::int64_t x) { return x < 0 || x > kMaxBytes; };
  for (std::size_t d = 0; d < out.shape.size(); ++d)
    if (beyond(out.shape[d]) || beyond(out.strides[d]))
      return error(fmt::format("size {} with stride {} in dimension {} is no layout", out.shape[d],
                               out.strides[d], d));
  if (beyond(out.offset))
    return error(fmt::format("storage offset {} lies in no storage", out.offset));
  return out;
}

std::int64_t extent(const Layout& layout) {
  std::int64_t last = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (layout.shape[d] == 0) return 0;
    last = added(last, scaled(layout.strides[d], layout.shape[d] - 1));
  }
  return last + 1;
}

std::optional<Layout> relative_layout(const Layout& shown, const Layout& whole) {
  std::vector<std::size_t> dims;  // from large steps to small ones
  for (std::size_t d = 0; d < whole.shape.size(); ++d)
    if (whole.shape[d] != 1) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) {
    return whole.strides[a] > whole.strides[b];
  });
  std::int64_t inside = 1;  // span of the inner dimensions so far
  for (std::size_t n = dims.size(); n-- > 0;) {
    if (whole.strides[dims[n]] < inside) return std::nullopt;
    inside = added(inside, scaled(whole.strides[dims[n]], whole.shape[dims[n]] - 1));
  }
  // Decomposes a storage distance into steps along each dimension of `whole`, without remainder.
  const Strides rows = contiguous_strides(whole.shape);
  std::vector<std::int64_t> furthest(dims.size(), 0);
  const auto elements = [&](std::int64_t distance,
                            std::int64_t times) -> std::optional<std::int64_t> {
    std::int64_t sum = 0;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      const std::int64_t steps = distance / whole.strides[dims[n]];
      distance -= steps * whole.strides[dims[n]];
      sum = added(sum, scaled(rows[dims[n]], steps));
      furthest[n] = added(furthest[n], scaled(steps, times));
    }
    if (distance != 0) return std::nullopt;
    return sum;
  };
  Layout out{shown.shape, Strides(shown.shape.size(), 0), 0, false};
  if (element_count(shown.shape) == 0) return out;
  const auto first =
      shown.offset < whole.offset ? std::nullopt : elements(shown.offset - whole.offset, 1);
  if (!first) return std::nullopt;
  out.offset = *first;
  for (std::size_t d = 0; d < shown.shape.size(); ++d) {
    if (shown.shape[d] == 1) continue;
    const auto step = elements(shown.strides[d], shown.shape[d] - 1);
    if (!step) return std::nullopt;
    out.strides[d] = *step;
  }
  for (std::size_t n = 0; n < dims.size(); ++n)
    if (furthest[n] >= whole.shape[dims[n]]) return std::nullopt;
  return out;
}

bool is_within(const Layout& layout, std::int64_t elements) {
  for (const std::int64_t size : layout.shape)
    if (size == 0) return true;
  std::int64_t lowest = layout.offset;
  std::int64_t highest = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(layout.shape[d] - 1, layout.strides[d], &span)) return false;
    std::int64_t& end = span < 0 ? lowest : highest;
    if (__builtin_add_overflow(end, span, &end)) return false;
  }
  return lowest >= 0 && highest < elements;
}

}  // namespace recut::layout

// Layout functions of views: they compute shape, strides and offset of the output from those of the
// operand. Shape rules apply them to recorded types and the interpreter to real tensors, so that
// the two can't disagree. Meaning and strides are ATen's (ATen/native/TensorShape.cpp).
#pragma once

#include <optional>

#include "engine/ir/call.h"

namespace recut {

struct Layout {
  Shape shape;
  Strides strides;          // in elements
  std::int64_t offset = 0;  // in elements
  bool copied = false;      // no strides express the result: it is a contiguous copy
};

namespace layout {

using LayoutResult = Result<Layout>;

// A view's layout rule. `output` is the output index of a view that has several (split, unbind).
using Rule = LayoutResult (*)(const Call& call, const Layout& self, std::int64_t output);

// The rule of a view or of its copying variant (view_copy); null for other operators.
Rule rule_of(Op op);

// One rule for each operator name; overloads share a rule.
LayoutResult alias(const Call& call, const Layout& self, std::int64_t output);
LayoutResult view(const Call& call, const Layout& self, std::int64_t output);
LayoutResult flatten(const Call& call, const Layout& self, std::int64_t output);
LayoutResult unflatten(const Call& call, const Layout& self, std::int64_t output);
LayoutResult as_strided(const Call& call, const Layout& self, std::int64_t output);
LayoutResult permute(const Call& call, const Layout& self, std::int64_t output);
LayoutResult transpose(const Call& call, const Layout& self, std::int64_t output);
LayoutResult t(const Call& call, const Layout& self, std::int64_t output);
LayoutResult movedim(const Call& call, const Layout& self, std::int64_t output);
LayoutResult expand(const Call& call, const Layout& self, std::int64_t output);
LayoutResult broadcast_in_dim(const Call& call, const Layout& self, std::int64_t output);
LayoutResult unsqueeze(const Call& call, const Layout& self, std::int64_t output);
LayoutResult squeeze_all(const Call& call, const Layout& self, std::int64_t output);
LayoutResult squeeze(const Call& call, const Layout& self,
                     std::int64_t output);  // `dim`, one or several
LayoutResult select(const Call& call, const Layout& self, std::int64_t output);
LayoutResult slice(const Call& call, const Layout& self, std::int64_t output);
LayoutResult narrow(const Call& call, const Layout& self, std::int64_t output);
LayoutResult diagonal(const Call& call, const Layout& self, std::int64_t output);
LayoutResult unfold(const Call& call, const Layout& self, std::int64_t output);
LayoutResult unbind(const Call& call, const Layout& self, std::int64_t output);
LayoutResult split(const Call& call, const Layout& self, std::int64_t output);
LayoutResult split_with_sizes(const Call& call, const Layout& self, std::int64_t output);
LayoutResult chunk(const Call& call, const Layout& self, std::int64_t output);

// Number of outputs of a multi-output view; more than kMaxOutputs is an error.
using Count = Result<std::int64_t> (*)(const Call& call, const Shape& self);
inline constexpr std::int64_t kMaxOutputs = 1 << 14;
Result<std::int64_t> unbind_count(const Call& call, const Shape& self);
Result<std::int64_t> split_count(const Call& call, const Shape& self);
Result<std::int64_t> split_with_sizes_count(const Call& call, const Shape& self);
Result<std::int64_t> chunk_count(const Call& call, const Shape& self);

// The shape `requested` for `count` elements, with at most one -1 replaced by the size that is left
// (ATen's infer_size).
Result<Shape> infer_size(const Shape& requested, std::int64_t count);

// Strides that view `self` as `shape` without a copy, if such strides exist (ATen's computeStride).
std::optional<Strides> strides_of_view(const Layout& self, const Shape& shape);

// Number of storage elements up to and including the last that the layout reaches; 0 for an empty
// layout.
std::int64_t extent(const Layout& layout);

// Re-expresses `shown`, a layout of the storage of `whole`, as a layout over the elements of
// `whole` in row-major order. None if `shown` reaches a gap between elements, if elements of
// `whole` may overlap, or if no strides express the result.
std::optional<Layout> relative_layout(const Layout& shown, const Layout& whole);

// True if all of a layout's elements lie within a storage of `elements`.
bool is_within(const Layout& layout, std::int64_t elements);

}  // namespace layout
}  // namespace recut

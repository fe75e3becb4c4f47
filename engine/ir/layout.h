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

using Computed = Result<Layout>;

// A view's layout rule. `output` is the output index of a view that has several (split, unbind).
using Rule = Computed (*)(const Call& call, const Layout& self, std::int64_t output);

// The rule of a view or of its copying variant (view_copy); null for other operators.
Rule rule_of(Op op);

// One rule for each operator name; overloads share a rule.
Computed alias(const Call& call, const Layout& self, std::int64_t output);
Computed view(const Call& call, const Layout& self, std::int64_t output);
Computed flatten(const Call& call, const Layout& self, std::int64_t output);
Computed unflatten(const Call& call, const Layout& self, std::int64_t output);
Computed as_strided(const Call& call, const Layout& self, std::int64_t output);
Computed permute(const Call& call, const Layout& self, std::int64_t output);
Computed transpose(const Call& call, const Layout& self, std::int64_t output);
Computed t(const Call& call, const Layout& self, std::int64_t output);
Computed movedim(const Call& call, const Layout& self, std::int64_t output);
Computed expand(const Call& call, const Layout& self, std::int64_t output);
Computed broadcast_in_dim(const Call& call, const Layout& self, std::int64_t output);
Computed unsqueeze(const Call& call, const Layout& self, std::int64_t output);
Computed squeeze_all(const Call& call, const Layout& self, std::int64_t output);
Computed squeeze(const Call& call, const Layout& self,
                 std::int64_t output);  // `dim`, one or several
Computed select(const Call& call, const Layout& self, std::int64_t output);
Computed slice(const Call& call, const Layout& self, std::int64_t output);
Computed narrow(const Call& call, const Layout& self, std::int64_t output);
Computed diagonal(const Call& call, const Layout& self, std::int64_t output);
Computed unfold(const Call& call, const Layout& self, std::int64_t output);
Computed unbind(const Call& call, const Layout& self, std::int64_t output);
Computed split(const Call& call, const Layout& self, std::int64_t output);
Computed split_with_sizes(const Call& call, const Layout& self, std::int64_t output);
Computed chunk(const Call& call, const Layout& self, std::int64_t output);

// Number of outputs of a multi-output view; more than kMostOutputs is an error.
using Count = Result<std::int64_t> (*)(const Call& call, const Shape& self);
inline constexpr std::int64_t kMostOutputs = 1 << 14;
Result<std::int64_t> unbind_count(const Call& call, const Shape& self);
Result<std::int64_t> split_count(const Call& call, const Shape& self);
Result<std::int64_t> split_with_sizes_count(const Call& call, const Shape& self);
Result<std::int64_t> chunk_count(const Call& call, const Shape& self);

// The shape `requested` for `count` elements, with at most one -1 replaced by the size that is left
// (ATen's infer_size).
Result<Shape> fill_in_size(const Shape& wanted, std::int64_t count);

// Strides that view `self` as `shape` without a copy, if such strides exist (ATen's computeStride).
std::optional<Strides> strides_of_view(const Layout& self, const Shape& shape);

// Number of storage elements up to and including the last that the layout reaches; 0 for an empty
// layout.
std::int64_t extent(const Layout& layout);

// Re-expresses `shown`, a layout of the storage of `whole`, as a layout over the elements of
// `whole` in row-major order. None if `shown` reaches a gap between elements, if elements of
// `whole` may overlap, or if no strides express the result.
std::optional<Layout> among_elements(const Layout& shown, const Layout& whole);

// True if all of a layout's elements lie within a storage of `elements`.
bool is_within(const Layout& layout, std::int64_t elements);

}  // namespace layout
}  // namespace recut

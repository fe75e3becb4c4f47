// What views do: shape, strides and offset of the output, from those of the operand. Shape rules
// apply these functions to recorded types, and the interpreter to the tensors that it has, so that
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

// A view's layout rule. `output` counts the outputs of a view that gives several (split, unbind).
using Rule = Computed (*)(const Call& call, const Layout& self, std::int64_t output);

// The rule of a view, and of an operator that copies what a view shows; null of others.
Rule rule_of(Op op);

// Each is for the operator of that name; operators that differ in their parameters' form only share
// one.
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

// How many outputs a view that gives several has; more than kMostOutputs are refused.
using Count = Result<std::int64_t> (*)(const Call& call, const Shape& self);
inline constexpr std::int64_t kMostOutputs = 1 << 14;
Result<std::int64_t> unbind_count(const Call& call, const Shape& self);
Result<std::int64_t> split_count(const Call& call, const Shape& self);
Result<std::int64_t> split_with_sizes_count(const Call& call, const Shape& self);
Result<std::int64_t> chunk_count(const Call& call, const Shape& self);

// The shape that `wanted` names for `count` elements: one dimension may be -1 and takes what is
// left.
Result<Shape> fill_in_size(const Shape& wanted, std::int64_t count);

// Strides that show `self` as `shape` without a copy, where there are any (ATen's computeStride).
std::optional<Strides> strides_of_view(const Layout& self, const Shape& shape);

// How many places there are up to the last that the layout shows; 0 where it shows none.
std::int64_t extent(const Layout& layout);

// The layout `shown` of a storage in which the elements of `whole` lie apart, as a layout of these
// elements in row-major order. None where it shows a place that is no element, where elements of
// `whole` may lie on top of each other, or where no strides tell the elements.
std::optional<Layout> among_elements(const Layout& shown, const Layout& whole);

// Whether all of a layout's elements lie within a storage of `elements`.
bool is_within(const Layout& layout, std::int64_t elements);

}  // namespace layout
}  // namespace recut

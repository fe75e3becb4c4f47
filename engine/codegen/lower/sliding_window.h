// Sliding windows over planes (the spatial dimensions), for convolutions and poolings.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// One number a spatial dimension, as in an XLA Window.
struct WindowConfig {
  std::vector<std::int64_t> kernel, stride, padding, dilation;

  std::size_t dims() const { return kernel.size(); }
  friend bool operator==(const WindowConfig&, const WindowConfig&) = default;
};

// An argument of one number a dimension, or one for all; `filler` where the schema has none.
std::vector<std::int64_t> per_dimension(const Call& call, std::string_view parameter,
                                        std::size_t dims, std::int64_t filler);

// A position, and the condition that it lies inside (false: padding). Dimensions that cannot leave
// the plane add no condition.
struct GuardedPosition {
  Indices position;
  std::optional<ScalarExpr> inside;  // none: always

  ScalarExpr element(const Nest& nest, std::string_view parameter, const Indices& at) const;
};
// window * stride - padding + offset * dilation: the plane position of an element of a window.
GuardedPosition plane_position(Lowering& lowering, const WindowConfig& s, const Indices& window,
                               const Indices& offset, const Shape& plane);
// The inverse: the window whose element `offset` is at a given position of the plane, if there is
// one.
GuardedPosition window_position(Lowering& lowering, const WindowConfig& s, const Indices& position,
                                const Indices& offset, const Shape& windows);

// Adds 0 <= index < extent to a condition, unless index ranges prove it.
void require_in_bounds(Lowering& lowering, std::optional<ScalarExpr>& inside, const Index& at,
                       std::int64_t extent);
// The condition that an index lies in a shape, as far as ranges do not prove it.
std::optional<ScalarExpr> in_bounds(Lowering& lowering, const Indices& at, const Shape& shape);

// By dimension, the maximal number of windows that overlap one position.
Shape overlapping_window_counts(const WindowConfig& s);
// The `number`-th of those windows, if there is one.
GuardedPosition overlapping_window(Lowering& lowering, const WindowConfig& s,
                                   const Indices& position, const Indices& number,
                                   const Shape& windows);

// Adds a condition by conjunction; none means always.
inline void require(std::optional<ScalarExpr>& inside, const ScalarExpr& condition) {
  inside = inside ? *inside & condition : condition;
}

}  // namespace recut::loop

// Windows that slide over planes: what convolutions and poolings share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// One number a spatial dimension.
struct Sliding {
  std::vector<std::int64_t> kernel, stride, padding, dilation;

  std::size_t dims() const { return kernel.size(); }
  friend bool operator==(const Sliding&, const Sliding&) = default;
};

// An attribute of one number a dimension, or one for all; `filler` where the schema has none.
std::vector<std::int64_t> per_dimension(const Call& call, std::string_view parameter,
                                        std::size_t dims, std::int64_t filler);

// Where an element of a window falls on the plane, and whether that is padding. Only dimensions
// that can leave the plane are asked.
struct Fallen {
  Indices place;
  std::optional<Quantity> inside;  // none: always

  Quantity element(const Nest& nest, std::string_view parameter, const Indices& at) const;
};
// window's place * stride - padding + offset in the window * dilation
Fallen on_plane(Lowering& lowering, const Sliding& s, const Indices& window, const Indices& offset,
                const Shape& plane);
// The window's place at which `offset` falls on `place` of the plane, where there is one.
Fallen on_windows(Lowering& lowering, const Sliding& s, const Indices& place, const Indices& offset,
                  const Shape& windows);

// Adds to a condition that an index lies in 0 … extent, as far as that isn't known.
void require_within(Lowering& lowering, std::optional<Quantity>& inside, const Index& at,
                    std::int64_t extent);
// That indices are places of a shape, as far as that isn't known.
std::optional<Quantity> within(Lowering& lowering, const Indices& at, const Shape& shape);

// How many windows at most hold one place, by dimension, or lie between those.
Shape windows_around(const Sliding& s);
// The one of windows_around that is `number`-th from the first, where there is one.
Fallen window_around(Lowering& lowering, const Sliding& s, const Indices& place,
                     const Indices& number, const Shape& windows);

// Adds a condition to those that hold already; none: always.
inline void require(std::optional<Quantity>& inside, const Quantity& condition) {
  inside = inside ? *inside & condition : condition;
}

}  // namespace recut::loop

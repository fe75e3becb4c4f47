// Typed indices: a NodeId can't be passed where a ValueId is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace recut {

// An index into one table; `Tag` names which. Default-constructed ids are invalid and mean "none".
template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<std::uint32_t>(i)) {}

  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace recut

template <class Tag>
struct std::hash<recut::Id<Tag>> {
  std::size_t operator()(recut::Id<Tag> id) const noexcept { return id.index; }
};

// Packings in one go.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/schedule/packing/instance.h"

namespace recut::packing {

using Order = std::vector<std::uint32_t>;  // every interval once

// What comes first.
enum class Rule : std::uint8_t {
  largest,            // then longest
  longest,            // then largest
  area,               // size times length
  contended_longest,  // the largest load that an interval is part of; then longest
  contended_largest,
  contended_area,
};
inline constexpr std::array<Rule, 6> kRules = {
    Rule::largest,           Rule::longest,           Rule::area,
    Rule::contended_longest, Rule::contended_largest, Rule::contended_area};

// Equals stand as they came.
Order order_by(const Instance& instance, Rule rule);

// Lowest offset first; equals as they stand in `before`.
Order order_by_offset(const std::vector<std::int64_t>& offsets, Order before);

struct Packed {
  std::vector<std::int64_t> offsets;
  std::int64_t height = 0;
};

// Each in turn at its lowest free place.
Packed first_fit(const Instance& instance, const Order& order);

// From the ground up: what is packed next lies on what is there already, leaves nothing under it
// that any other would still fit into whole, and leaves no hole at a moment whose load can't afford
// one below `capacity`. Of those that may come next the first in `order`; where none may, the one
// that goes least above. Adds the steps that it takes to `work`.
Packed evenly_raised(const Instance& instance, const Conflicts& conflicts, const Order& order,
                     std::int64_t capacity, std::int64_t& work);

}  // namespace recut::packing

// Greedy packings.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/schedule/packing/instance.h"

namespace recut::packing {

using Order = std::vector<std::uint32_t>;  // every interval once

// Orders of intervals.
enum class Rule : std::uint8_t {
  largest,            // then longest
  longest,            // then largest
  area,               // size times length
  contended_longest,  // the maximum load during the interval; then longest
  contended_largest,
  contended_area,
};
inline constexpr std::array<Rule, 6> kRules = {
    Rule::largest,           Rule::longest,           Rule::area,
    Rule::contended_longest, Rule::contended_largest, Rule::contended_area};

// A stable sort by the rule.
Order order_by(const Instance& instance, Rule rule);

// A stable sort of `before` by offset.
Order order_by_offset(const std::vector<std::int64_t>& offsets, Order before);

struct Packed {
  std::vector<std::int64_t> offsets;
  std::int64_t height = 0;
};

// First fit: each in turn at its lowest free offset.
Packed first_fit(const Instance& instance, const Order& order);

// Skyline packing: the next interval lies on the skyline, leaves no gap below it that another
// interval would fit into, and wastes no more than the slack (capacity minus load) at any time. Of
// the candidates the first in `order`; if there is none, the candidate that exceeds the slack
// least. Adds its steps to `work`.
Packed skyline_pack(const Instance& instance, const Conflicts& conflicts, const Order& order,
                    std::int64_t capacity, std::int64_t& work);

}  // namespace recut::packing

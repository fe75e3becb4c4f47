// Collectives (engine/ir/operators/collectives.def): which group of ranks a call needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/ir/call.h"

namespace recut {

inline constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24;

// The ranks of a collective's group, as far as its arguments tell: group_size, or a part for each
// rank. None for all_reduce and broadcast, which name their group alone.
std::optional<std::int64_t> group_size(const Call& collective);

// True where other ranks take part, or may: the values of one rank don't determine the result. A
// group of one rank gives each its own input back.
bool needs_other_ranks(const Call& collective);

// "it needs the values of 8 ranks (group '0'), and Recut has those of one".
std::string why_no_values(const Call& collective);

}  // namespace recut

// Collectives (engine/ir/operators/collectives.def): which group of ranks a call needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/graph.h"

namespace recut {

inline constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24;

// The ranks of a collective's group, as far as its arguments tell: group_size, or a part for each
// rank. None for all_reduce and broadcast, which name their group alone.
std::optional<std::int64_t> group_size(const Call& collective);

// True where other ranks take part, or may: the values of one rank don't determine the result. A
// group of one rank gives each its own input back.
bool needs_other_ranks(const Call& collective);

// The operands of the collective that call `id` waits for: they are read until then. None where it
// isn't a wait, or nothing in the graph makes its operand.
std::vector<NodeId> operands_until_wait(const Graph& graph, NodeId id);

// "it needs the values of 8 ranks (group '0'), and Recut has those of one".
std::string why_no_values(const Call& collective);

}  // namespace recut

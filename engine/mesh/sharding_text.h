// DTensor's lists of placements, one for each mesh axis, as text and as shardings.
//
// The list leaves the order of axes to its own order, left to right. DTensor writes another order
// by _StridedShard(dim, split_factor): the factor is the product of the sizes of the axes that
// stand before this one in the order and after it in the mesh. It exists here for import and print
// alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/sharding.h"

namespace recut::mesh {

// A placement as DTensor has it.
struct ListedPlacement {
  Placement placement;            // dim counts from the end where negative
  std::int64_t split_factor = 1;  // of shard alone; above 1 it is a _StridedShard
  bool operator==(const ListedPlacement&) const = default;
};

// Fails on a list of another length than the mesh has axes, a dimension that the tensor lacks, a
// factor that no order of axes explains, and as check_sharding() does.
Result<Sharding> sharding_from(std::span<const ListedPlacement> list, const DeviceMesh& mesh,
                               std::int64_t rank);

// The list of a sharding. sharding_from() gives the sharding back, up to the order of axes with
// size 1.
std::vector<ListedPlacement> placements_of(const Sharding& sharding, const DeviceMesh& mesh);

// "[S(0), R, P(sum), _S(0, 2)]"; the brackets may be left out in text that is read.
std::string format(std::span<const ListedPlacement> list);
Result<std::vector<ListedPlacement>> parse_placements(std::string_view text);

// Both steps at once.
std::string format(const Sharding& sharding, const DeviceMesh& mesh);
Result<Sharding> parse_sharding(std::string_view text, const DeviceMesh& mesh, std::int64_t rank);

}  // namespace recut::mesh

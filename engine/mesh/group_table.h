// The groups that collectives name: a group's name stands for a list of disjoint groups of ranks,
// and a rank's own group is the one that it is in.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/device_mesh.h"
#include "engine/support/result.h"

namespace recut::mesh {

class GroupTable {
 public:
  // Fails if the name is taken, a group is empty, or a rank is negative or in two of the groups.
  Result<Done> add(std::string name, std::vector<std::vector<std::int64_t>> groups);

  // The members of a rank's group, in the group's order; on failure the message tells whether the
  // table lacks the name or the rank.
  Result<std::span<const std::int64_t>> group_of(std::string_view name, std::int64_t rank) const;

  bool has(std::string_view name) const { return groups_.find(name) != groups_.end(); }

  // Fails if a group has a rank that isn't among 0 … ranks - 1.
  Result<Done> check_world(std::int64_t ranks) const;

 private:
  std::map<std::string, std::vector<std::vector<std::int64_t>>, std::less<>> groups_;
};

// Each axis of a mesh by its name.
GroupTable groups_of(const DeviceMesh& mesh);

// The group of all ranks of a mesh, by its name, and no other.
GroupTable one_group(std::string name, const DeviceMesh& mesh);

}  // namespace recut::mesh

#include "engine/mesh/group_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut::mesh {

Result<Done> GroupTable::add(std::string name, std::vector<std::vector<std::int64_t>> groups) {
  std::set<std::int64_t> seen;
  for (const auto& group : groups) {
    if (group.empty()) return error(fmt::format("group {} has no ranks", quote(name)));
    for (const std::int64_t rank : group) {
      if (rank < 0)
        return error(fmt::format("group {} has rank {}, expected 0 or more", quote(name), rank));
      if (!seen.insert(rank).second)
        return error(fmt::format("rank {} is in group {} twice, expected once", rank, quote(name)));
    }
  }
  if (groups_.count(name) != 0)
    return error(fmt::format("two groups are named {}; give each its own name", quote(name)));
  groups_.emplace(std::move(name), std::move(groups));
  return Done{};
}

Result<std::span<const std::int64_t>> GroupTable::group_of(std::string_view name,
                                                           std::int64_t rank) const {
  const auto found = groups_.find(name);
  if (found == groups_.end()) {
    TypoCorrection near(name);
    for (const auto& [known, groups] : groups_) near.consider(known);
    return error(fmt::format("no group is named {}{}", quote(name), near.suggestion()));
  }
  for (const auto& group : found->second)
    if (std::find(group.begin(), group.end(), rank) != group.end())
      return std::span<const std::int64_t>(group);
  return error(fmt::format("rank {} is in none of the groups of {}", rank, quote(name)));
}

Result<Done> GroupTable::check_world(std::int64_t ranks) const {
  for (const auto& [name, groups] : groups_)
    for (const auto& group : groups)
      for (const std::int64_t rank : group)
        if (rank >= ranks)
          return error(fmt::format("group {} has rank {}, and there are {} ranks", quote(name),
                                   rank, ranks));
  return Done{};
}

GroupTable groups_of(const DeviceMesh& mesh) {
  GroupTable table;
  for (int axis = 0; axis < mesh.ndim(); ++axis) {
    const auto added =
        table.add(mesh.axes()[static_cast<std::size_t>(axis)].name, mesh.groups(axis));
    RECUT_CHECK(added.ok(), "the axes of a mesh have different names and disjoint groups");
  }
  return table;
}

GroupTable one_group(std::string name, const DeviceMesh& mesh) {
  GroupTable table;
  const auto added = table.add(std::move(name), {{mesh.ranks().begin(), mesh.ranks().end()}});
  RECUT_CHECK(added.ok(), "a mesh has a rank, and each once");
  return table;
}

}  // namespace recut::mesh

// Device meshes: ranks as an n-dimensional array with a name for each axis (DTensor's DeviceMesh).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut::mesh {

// The index of a rank along each axis of a mesh.
using Coordinate = std::vector<std::int64_t>;

struct MeshAxis {
  std::string name;  // a letter or '_', then letters, digits and '_'
  std::int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

// A mesh has at least one axis, and at most kMaxRanks ranks (engine/ir/collective.h).
class DeviceMesh {
 public:
  // Ranks 0, 1, … in row-major order. Fails on no axes, a size below 1, a name that is no
  // identifier or that another axis has, and too many ranks.
  static Result<DeviceMesh> make(std::vector<MeshAxis> axes);

  // `ranks` in row-major order, one for each coordinate. Fails as above, and if their number is
  // wrong, one is negative or stands there twice.
  static Result<DeviceMesh> make(std::vector<MeshAxis> axes, std::vector<std::int64_t> ranks);

  // The mesh of "dp=2,tp=4". Fails on other text, and as make() does.
  static Result<DeviceMesh> parse(std::string_view text);

  std::span<const MeshAxis> axes() const { return axes_; }
  int ndim() const { return static_cast<int>(axes_.size()); }
  std::int64_t axis_size(int axis) const { return axes_[static_cast<std::size_t>(axis)].size; }
  std::int64_t size() const { return static_cast<std::int64_t>(ranks_.size()); }
  std::span<const std::int64_t> ranks() const { return ranks_; }  // by position

  // The position of a coordinate in row-major order, 0 … size() - 1, and its inverse.
  std::int64_t position(const Coordinate& at) const;
  Coordinate coordinate_at(std::int64_t position) const;

  // None for a rank outside the mesh.
  std::optional<std::int64_t> position_of(std::int64_t rank) const;
  std::optional<Coordinate> coordinate_of(std::int64_t rank) const;

  // The axis of a name; on failure the message has the nearest name.
  Result<int> axis(std::string_view name) const;

  // The groups of an axis, as positions: the lines along it, each in the axis' order. A group's
  // first member has coordinate 0 on the axis, whatever its rank is.
  std::vector<std::vector<std::int64_t>> lines(int axis) const;
  // The same as ranks. 0 … 7 as 2 by 4: axis 0 gives {0, 4}, {1, 5}, {2, 6}, {3, 7}.
  std::vector<std::vector<std::int64_t>> groups(int axis) const;

  // The meshes of these axes alone, one for each coordinate on the others, in row-major order.
  // Fails on no names, an unknown name, and names that aren't in the mesh's order.
  Result<std::vector<DeviceMesh>> submeshes(std::span<const std::string> names) const;
  // The one that holds a rank; fails for a rank outside, too.
  Result<DeviceMesh> submesh(std::span<const std::string> names, std::int64_t rank) const;

  // All axes as one, in row-major order; fails if `name` is no identifier.
  Result<DeviceMesh> flatten(std::string name) const;

  // Fails if a rank isn't among 0 … world - 1.
  Result<Done> check_world(std::int64_t world) const;

  bool operator==(const DeviceMesh&) const = default;

 private:
  DeviceMesh(std::vector<MeshAxis> axes, std::vector<std::int64_t> ranks)
      : axes_(std::move(axes)), ranks_(std::move(ranks)) {}

  std::vector<MeshAxis> axes_;
  std::vector<std::int64_t> ranks_;
};

// "dp=2,tp=4"; " of ranks 4, 5, …" after it (at most 16), where they aren't 0, 1, ….
std::string format(const DeviceMesh& mesh);

}  // namespace recut::mesh

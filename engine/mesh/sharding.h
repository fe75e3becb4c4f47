// Shardings: all placements of one tensor over a device mesh.
//
// A sharding tells for each dimension of the tensor which mesh axes cut it, in order. Each axis
// cuts the chunk that the axes before it left over, as torch.chunk does. sharding_text.h turns
// DTensor's list of placements, one for each mesh axis, into a sharding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ir/type.h"
#include "engine/mesh/device_mesh.h"
#include "engine/mesh/placement.h"
#include "engine/support/result.h"

namespace recut::mesh {

// Axes that neither cut a dimension nor are partial replicate the tensor.
struct Sharding {
  std::vector<std::vector<int>> dims;             // by dimension: mesh axes, major to minor
  std::vector<std::optional<Reduction>> partial;  // by mesh axis: the reduction of its ranks

  static Sharding replicated(std::int64_t rank, int ndim);

  std::optional<int> dim_of(int axis) const;  // the dimension that an axis cuts
  bool replicates(int axis) const { return !dim_of(axis) && !partial_of(axis); }
  std::optional<Reduction> partial_of(int axis) const {
    return partial[static_cast<std::size_t>(axis)];
  }
  bool has_partial() const;

  bool operator==(const Sharding&) const = default;
};

// Fails if the sharding isn't one of a tensor with `rank` dimensions on the mesh: wrong lengths, an
// unknown axis or one that has two tasks, and partial kinds that don't commute (any two but sum and
// avg).
Result<Done> check_sharding(const Sharding& sharding, const DeviceMesh& mesh, std::int64_t rank);

// The same sharding without the axes of size 1, which cost nothing and change no value.
Sharding without_single_ranks(const Sharding& sharding, const DeviceMesh& mesh);

// A part of a dimension.
struct Interval {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  bool operator==(const Interval&) const = default;
};

// torch.chunk: the first chunks have ceil(size / chunks) elements, the last ones fewer or none. An
// empty chunk has the offset `size`.
Interval chunk(std::int64_t size, std::int64_t chunks, std::int64_t index);

// The part of a dimension of `size` elements that `axes` leave to a coordinate. An empty part has
// the offset `size`: checkpoints tell duplicates by it.
Interval local_interval(std::int64_t size, std::span<const int> axes, const DeviceMesh& mesh,
                        const Coordinate& at);

// A box of a tensor: where it begins and how large it is, by dimension.
struct Block {
  Shape offset;
  Shape shape;
  bool operator==(const Block&) const = default;
};

// The part of a tensor of shape `global` that a coordinate holds. The coordinate of zeros has the
// largest one. The sharding must be one of the shape on the mesh.
Block local_block(const Shape& global, const Sharding& sharding, const DeviceMesh& mesh,
                  const Coordinate& at);

// The bytes that the coordinate of zeros holds, the most of all.
std::int64_t largest_local_bytes(const TensorType& type, const Sharding& sharding,
                                 const DeviceMesh& mesh);

// The shape of the whole tensor that has these local shapes, by position. Fails where they aren't
// the chunks of any: the message has the rank, its shape and the expected one.
Result<Shape> global_shape(std::span<const Shape> locals, const Sharding& sharding,
                           const DeviceMesh& mesh);

}  // namespace recut::mesh

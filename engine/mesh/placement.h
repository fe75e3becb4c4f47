// Placements: one axis of a device mesh holds a tensor in one of three forms (DTensor's Replicate,
// Shard and Partial).
#pragma once

#include <cstdint>
#include <string>

namespace recut::mesh {

enum class PlacementKind : std::uint8_t { replicate, shard, partial };
enum class Reduction : std::uint8_t { sum, avg, product, min, max };

// Replicate: every rank of the axis has the whole tensor. Shard: each has its part of dimension
// `dim`, as torch.chunk cuts it. Partial: the tensor is the reduction of all ranks' tensors.
struct Placement {
  PlacementKind kind = PlacementKind::replicate;
  int dim = -1;                          // of shard alone
  Reduction reduction = Reduction::sum;  // of partial alone

  static Placement replicate() { return {}; }
  static Placement shard(int dim) { return {PlacementKind::shard, dim, Reduction::sum}; }
  static Placement partial(Reduction of) { return {PlacementKind::partial, -1, of}; }

  bool is_replicate() const { return kind == PlacementKind::replicate; }
  bool is_shard() const { return kind == PlacementKind::shard; }
  bool is_partial() const { return kind == PlacementKind::partial; }
  bool operator==(const Placement&) const = default;
};

const char* title(Reduction reduction);   // "sum"
std::string format(Placement placement);  // "R", "S(0)", "P(sum)"

}  // namespace recut::mesh

#include "engine/mesh/rules/redistribution_bytes.h"

#include "engine/mesh/rules/local_call.h"
#include "engine/mesh/traffic.h"

namespace recut::mesh {
namespace {

// Bytes of the largest shard: ranks with less send as much.
std::int64_t shard_bytes(const TensorType& type, Placement at, std::int64_t ranks) {
  return element_count(part_shape(type.shape, at, {ranks, 0})) * item_bytes(type.dtype);
}

bool is_sum(Placement at) {
  return at.is_partial() && (at.reduction == Reduction::sum || at.reduction == Reduction::avg);
}

}  // namespace

std::int64_t redistribution_bytes(const TensorType& type, Placement from, Placement to,
                                  std::int64_t ranks) {
  if (from == to || from.is_replicate()) return 0;
  if (from.is_partial()) {
    if (is_sum(from) && is_sum(to)) return 0;
    return to.is_shard() ? sent_by_reduce_scatter(ranks, shard_bytes(type, to, ranks)).bytes
                         : sent_by_all_reduce(ranks, byte_size(type)).bytes;
  }
  if (is_sum(to)) return 0;
  if (!to.is_shard()) return sent_by_all_gather(ranks, shard_bytes(type, from, ranks)).bytes;
  TensorType shard = type;
  shard.shape = part_shape(type.shape, from, {ranks, 0});
  return sent_by_all_to_all(ranks, shard_bytes(shard, to, ranks)).bytes;
}

}  // namespace recut::mesh

#include "engine/cost/collective_time.h"

#include <algorithm>
#include <numeric>

#include "engine/ir/collective.h"
#include "engine/ir/storage_model.h"

namespace recut {
namespace {

// The traffic of a collective on the ring: rounds of n-1 steps, each of which moves the value once,
// but for the rank's own part.
struct RingUse {
  int rounds = 1;
  bool keeps_own_part = true;
};

RingUse ring_use(Op op) {
  if (op == Op::c10d_all_reduce || op == Op::c10d_all_reduce_coalesced) return {2, true};
  if (op == Op::c10d_broadcast) return {1, false};
  return {};
}

// Of all ranks together; the larger side of a gather or a scatter has it.
std::int64_t whole_bytes(const Graph& graph, NodeId id) {
  std::int64_t read = 0;
  for (const NodeId operand : graph[id].operands) read += value_bytes(graph[operand]);
  return std::max(read, value_bytes(graph[id]));
}

// The largest part of its input that a rank of an all_to_all sends, from 0 to 1: all but the
// smallest piece, which may be its own.
double sent_part(const Call& call) {
  const auto sizes = call.integers("input_split_sizes");
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (total == 0) return 0;
  const std::int64_t least = *std::min_element(sizes.begin(), sizes.end());
  return static_cast<double>(total - least) / static_cast<double>(total);
}

}  // namespace

double link_micros(const Graph& graph, NodeId collective, const Link& link) {
  const Call::TypesOf types_of = [&](NodeId id) { return graph.pool().types_of(id); };
  const Call call(graph.op(collective), graph[collective].arguments, types_of);
  const auto ranks = group_size(call);
  const RingUse use = ring_use(call.op().op);
  const std::int64_t steps = ranks.value_or(2) - 1;
  if (steps <= 0) return 0;
  double part = 1;
  if (call.op().op == Op::c10d_all_to_all_single)
    part = sent_part(call);
  else if (ranks && use.keeps_own_part)
    part = static_cast<double>(steps) / static_cast<double>(*ranks);
  const double bytes = part * static_cast<double>(whole_bytes(graph, collective));
  return use.rounds *
         (static_cast<double>(steps) * link.micros + 1e6 * bytes / link.bytes_per_second);
}

}  // namespace recut

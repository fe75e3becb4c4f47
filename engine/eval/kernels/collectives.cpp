// Collectives of a group of one rank: each gives the rank its own input back. The evaluator refuses
// all others before it runs anything.
#include "engine/eval/kernel.h"
#include "engine/ir/collective.h"

namespace recut {
namespace {

Result<Done> one_tensor(KernelContext& context) {
  if (needs_other_ranks(context.call)) return error(why_no_values(context.call));
  copy_tensor(context.tensor("input"), context.outputs[0]);
  return Done{};
}

Result<Done> each_tensor(KernelContext& context) {
  if (needs_other_ranks(context.call)) return error(why_no_values(context.call));
  const std::vector<NodeId> inputs = context.call.nodes("inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (context.requested(i)) copy_tensor(context.tensor(inputs[i]), context.outputs[i]);
  return Done{};
}

}  // namespace

void add_collective_kernels(KernelTable& table) {
  for (const Op op :
       {Op::c10d_all_reduce, Op::c10d_all_gather_into_tensor, Op::c10d_reduce_scatter_tensor,
        Op::c10d_all_to_all_single, Op::c10d_broadcast, Op::shard_dim_alltoall})
    table.add(op, one_tensor);
  for (const Op op : {Op::c10d_all_reduce_coalesced, Op::c10d_all_gather_into_tensor_coalesced,
                      Op::c10d_reduce_scatter_tensor_coalesced})
    table.add(op, each_tensor);
}

}  // namespace recut

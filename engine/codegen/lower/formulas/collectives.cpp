// Collectives of a group of one rank, which gives its own input back.
#include <fmt/core.h>

#include "engine/codegen/lower/formula.h"
#include "engine/ir/collective.h"

namespace recut::loop {
namespace {

std::optional<std::string> several_ranks(const Call& call) {
  if (!needs_other_ranks(call)) return std::nullopt;
  return fmt::format("several ranks: {}", why_no_values(call));
}

}  // namespace

void add_collective_formulas(FormulaTable& table) {
  const Formula own = [](const ElementContext& ctx) { return ctx.raw("input"); };
  for (const Op op :
       {Op::c10d_all_reduce, Op::c10d_all_gather_into_tensor, Op::c10d_reduce_scatter_tensor,
        Op::c10d_all_to_all_single, Op::c10d_broadcast, Op::shard_dim_alltoall})
    table.push_back({op, own, several_ranks});
}

}  // namespace recut::loop

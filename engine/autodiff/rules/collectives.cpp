// Collectives. Each rank differentiates its own loss, and the gradients are those of the losses'
// sum: the gradient of a rank's input comes back from the others by the inverse traffic.
#include <fmt/core.h>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value waited(const Value& started) { return unary(Op::c10d_wait_tensor, started); }

bool sums(VjpContext& ctx) {
  return ctx.text("reduce_op") == "sum" || ctx.text("reduce_op") == "avg";
}

Value not_linear(VjpContext& ctx) {
  return ctx.b.fail(fmt::format("the derivative of {} by '{}' isn't known, only of 'sum' and 'avg'",
                                ctx.call().op().name, ctx.text("reduce_op")));
}

Value all_reduced(VjpContext& ctx) {
  if (!sums(ctx)) return not_linear(ctx);
  return waited(
      ctx.b(Op::c10d_all_reduce, {ctx.grad(), ctx.given("reduce_op"), ctx.given("group_name")}));
}

Value all_gathered(VjpContext& ctx) {
  return waited(ctx.b(Op::c10d_reduce_scatter_tensor,
                      {ctx.grad(), "sum", ctx.given("group_size"), ctx.given("group_name")}));
}

Value reduce_scattered(VjpContext& ctx) {
  if (!sums(ctx)) return not_linear(ctx);
  const Value all = waited(ctx.b(Op::c10d_all_gather_into_tensor,
                                 {ctx.grad(), ctx.given("group_size"), ctx.given("group_name")}));
  return ctx.text("reduce_op") == "avg" ? all / static_cast<double>(ctx.integer("group_size"))
                                        : all;
}

Value exchanged(VjpContext& ctx) {
  return waited(ctx.b(Op::c10d_all_to_all_single,
                      {ctx.grad(), ctx.given("input_split_sizes"), ctx.given("output_split_sizes"),
                       ctx.given("group_name")}));
}

// Sums that one rank alone receives depend on who asks.
Value refused(VjpContext& ctx) {
  return ctx.b.fail(fmt::format("the derivative of {} isn't known", ctx.call().op().name));
}
std::vector<Value> refused_list(VjpContext& ctx) { return {refused(ctx)}; }

}  // namespace

DerivativeRules collective_rules() {
  return {
      vjp({Op::c10d_all_reduce}, {{"input", all_reduced}}),
      linear({Op::c10d_all_gather_into_tensor}, {{"input", all_gathered}}),
      vjp({Op::c10d_reduce_scatter_tensor}, {{"input", reduce_scattered}}),
      linear({Op::c10d_all_to_all_single}, {{"input", exchanged}}),
      linear({Op::c10d_wait_tensor}, {{"tensor", same}}),
      linear({Op::c10d_broadcast, Op::shard_dim_alltoall}, {{"input", refused}}),
      vjp({Op::c10d_all_reduce_coalesced, Op::c10d_all_gather_into_tensor_coalesced,
           Op::c10d_reduce_scatter_tensor_coalesced},
          {{"inputs", refused_list}}),
  };
}

}  // namespace recut::autodiff

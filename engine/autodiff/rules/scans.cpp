// Prefix sums and products, and operators that select elements by rank (sort, topk).
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// The sum of everything from each place on.
Value reverse_cumsum(const Value& value, std::int64_t dim) {
  Builder& b = *value.builder();
  return b(Op::flip, {b(Op::cumsum, {b(Op::flip, {value, {dim}}), dim}), {dim}});
}

Value cumsum(VjpContext& ctx) {
  if (ctx["self"].rank() == 0) return ctx.grad();
  return reverse_cumsum(ctx.grad(), ctx.integer("dim"));
}

// Before the first 0 of a row all later products contain the element: sum(g y) / x. At the first 0
// they are the products without it. After it all of them are 0.
Value cumprod(VjpContext& ctx) {
  const Value x = ctx.b.convert(ctx["self"], ctx.out_type().dtype);
  if (x.rank() == 0) return ctx.grad();
  const std::int64_t dim = ctx.integer("dim");
  const Value zero = ctx.b(Op::eq_Scalar, {x, 0});
  const Value zeros_so_far = ctx.b(Op::cumsum, {zero, dim});
  const Value before = ctx.b(Op::eq_Scalar, {zeros_so_far, 0});
  const Value one = ctx.b(Op::eq_Scalar, {zeros_so_far, 1});
  const Value first = both(zero, one);
  const Value without = ctx.b(Op::cumprod, {number_where(first, 1, x), dim});
  const Value at_zero = reverse_cumsum(keep_where(one, without * ctx.grad()), dim);
  const Value elsewhere = reverse_cumsum(ctx.out() * ctx.grad(), dim) / number_where(zero, 1, x);
  return ctx.b.where(before, elsewhere, keep_where(first, at_zero));
}

// sum over j >= i of g_j exp(x_i - y_j): in logarithms, the positive and the negative gradients
// apart, since exp(-y) alone would overflow.
Value logcumsumexp(VjpContext& ctx) {
  const Value x = ctx["self"], g = ctx.grad();
  if (x.rank() == 0) return g;
  const std::int64_t dim = ctx.integer("dim");
  const auto part = [&](const Value& size, const Value& there) {
    const Value some = both(there, ctx.b(Op::ne_Scalar, {ctx.out(), -INFINITY}));
    const Value logs =
        ctx.b.log(number_where(negated(some), 1, size)) - zero_where(negated(some), ctx.out());
    const Value flipped = ctx.b(Op::flip, {number_where(negated(some), -INFINITY, logs), {dim}});
    return ctx.b.exp(ctx.b(Op::flip, {ctx.b(Op::logcumsumexp, {flipped, dim}), {dim}}) + x);
  };
  return part(g, ctx.b(Op::gt_Scalar, {g, 0})) - part(-g, ctx.b(Op::lt_Scalar, {g, 0}));
}

// Gradients put back to where the values were taken from; `indices` along `dim`.
Value put_back(VjpContext& ctx, const Value& gradient, const Value& indices) {
  const Value x = ctx["self"];
  const std::int64_t dim = x.rank() == 0 ? 0 : ctx.dim("dim", x.rank());
  return ctx.b(Op::scatter_add, {zeros(ctx.b, x.type()), dim, indices, gradient});
}

Value at_selected(VjpContext& ctx) { return put_back(ctx, ctx.grad(), ctx.out(1)); }

Value at_selected_one(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::vector<std::int64_t> dims = {ctx.integer("dim")};
  const bool keep = ctx.boolean("keepdim");
  return put_back(ctx, with_dims_kept(ctx.grad(), x.shape(), dims, keep),
                  with_dims_kept(ctx.out(1), x.shape(), dims, keep));
}

std::vector<Value> msort(VjpContext& ctx) { return {ctx.b(Op::sort, {ctx["self"], 0})[0]}; }

}  // namespace

DerivativeRules scan_rules() {
  return {
      linear({Op::cumsum}, {{"self", cumsum}}),
      vjp({Op::cumprod}, {{"self", cumprod}}),
      vjp({Op::logcumsumexp}, {{"self", logcumsumexp}}),
      vjp({Op::cummax, Op::cummin}, {{"self", at_selected}}, 1),
  };
}

DerivativeRules order_rules() {
  return {
      vjp({Op::sort, Op::sort_stable, Op::topk}, {{"self", at_selected}}, 1),
      vjp({Op::max_dim, Op::min_dim, Op::kthvalue, Op::median_dim, Op::nanmedian_dim, Op::mode},
          {{"self", at_selected_one}}, 1),
      decomposes({Op::msort}, msort),
  };
}

}  // namespace recut::autodiff

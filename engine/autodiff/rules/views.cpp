// Views and their copies: all of them are linear.
#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value reshaped(VjpContext& ctx) { return ctx.b.view(ctx.grad(), ctx["self"].shape()); }

Value permuted(VjpContext& ctx) {
  const auto dims = ctx.integers("dims");
  std::vector<std::int64_t> inverse(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto d = wrap_dimension(dims[i], static_cast<std::int64_t>(dims.size()));
    if (d && static_cast<std::size_t>(*d) < inverse.size())
      inverse[static_cast<std::size_t>(*d)] = static_cast<std::int64_t>(i);
  }
  return ctx.b.permute(ctx.grad(), inverse);
}

Value transposed(VjpContext& ctx) {
  return ctx.b.transpose(ctx.grad(), ctx.integer("dim0"), ctx.integer("dim1"));
}
Value transposed_matrix(VjpContext& ctx) { return ctx.b(Op::t, {ctx.grad()}); }

// The clamped start and end of ATen's slice.
Value slice_gradient(VjpContext& ctx, std::int64_t start, std::int64_t end, std::int64_t step) {
  const Value x = ctx["self"];
  return ctx.b(Op::slice_backward,
               {ctx.grad(), x.shape(), ctx.dim("dim", x.rank()), start, end, step});
}

Value sliced(VjpContext& ctx) {
  const std::int64_t n = ctx["self"].size(ctx.integer("dim"));
  const auto within = [n](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n);
  };
  const std::int64_t start = ctx.is_given("start") ? within(ctx.integer("start")) : 0;
  const std::int64_t end = ctx.is_given("end") ? within(ctx.integer("end")) : n;
  return slice_gradient(ctx, start, std::max(start, end), ctx.integer("step"));
}

Value narrowed(VjpContext& ctx) {
  const std::int64_t n = ctx["self"].size(ctx.integer("dim"));
  const std::int64_t start = ctx.integer("start") + (ctx.integer("start") < 0 ? n : 0);
  return slice_gradient(ctx, start, start + ctx.integer("length"), 1);
}

Value selected(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t dim = ctx.dim("dim", x.rank()), index = ctx.integer("index");
  return ctx.b(Op::select_backward,
               {ctx.grad(), x.shape(), dim, index < 0 ? index + x.size(dim) : index});
}

Value joined(VjpContext& ctx) {
  const Value x = ctx["self"];
  std::vector<Value> gradients;
  for (std::int64_t i = 0; i < ctx.outputs(); ++i) gradients.push_back(ctx.grad(i));
  return ctx.b(Op::cat, {gradients, ctx.dim("dim", x.rank())});
}

Value stacked(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t dim = ctx.dim("dim", x.rank());
  std::vector<Value> gradients;
  for (std::int64_t i = 0; i < x.size(dim); ++i) gradients.push_back(ctx.grad(i));
  if (gradients.empty()) return zeros(ctx.b, x.type());
  return ctx.b(Op::stack, {gradients, dim});
}

Value diagonal(VjpContext& ctx) {
  const Value x = ctx["self"];
  return ctx.b(Op::diagonal_backward,
               {ctx.grad(), x.shape(), ctx.given("offset"), ctx.given("dim1"), ctx.given("dim2")});
}

Value moved_back(VjpContext& ctx) {
  return ctx.b(ctx.op(), {ctx.grad(), ctx.given("destination"), ctx.given("source")});
}

Value unfolded(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t dim = ctx.dim("dimension", x.rank());
  return ctx.b(Op::unfold_backward,
               {ctx.grad(), x.shape(), dim, ctx.given("size"), ctx.given("step")});
}

Value broadcast_in_dim(VjpContext& ctx) {
  const auto places = ctx.integers("broadcast_dimensions");
  const Value x = ctx["a"];
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < ctx.grad().rank(); ++d) {
    const auto at = std::find(places.begin(), places.end(), d);
    const bool repeated =
        at == places.end() || (x.size(at - places.begin()) == 1 && ctx.grad().size(d) != 1);
    if (repeated) dims.push_back(d);
  }
  return ctx.b.view(dims.empty() ? ctx.grad() : ctx.b.sum(ctx.grad(), dims, true), x.shape());
}

}  // namespace

DerivativeRules view_rules() {
  return {
      linear({Op::alias, Op::alias_copy}, {{"self", same}}),
      linear({Op::view, Op::reshape, Op::_unsafe_view, Op::_reshape_alias, Op::view_copy,
              Op::flatten_using_ints, Op::unflatten_int, Op::squeeze, Op::squeeze_dim,
              Op::squeeze_dims, Op::squeeze_copy, Op::squeeze_copy_dim, Op::squeeze_copy_dims,
              Op::unsqueeze, Op::unsqueeze_copy},
             {{"self", reshaped}}),
      linear({Op::permute, Op::permute_copy}, {{"self", permuted}}),
      linear({Op::transpose_int, Op::transpose_copy_int}, {{"self", transposed}}),
      linear({Op::t, Op::t_copy}, {{"self", transposed_matrix}}),
      linear({Op::expand, Op::expand_copy}, {{"self", same}}),
      linear({Op::slice_Tensor, Op::slice_copy_Tensor}, {{"self", sliced}}),
      linear({Op::narrow, Op::narrow_copy}, {{"self", narrowed}}),
      linear({Op::select_int, Op::select_copy_int}, {{"self", selected}}),
      linear({Op::split_Tensor, Op::split_with_sizes, Op::split_sizes, Op::chunk,
              Op::unsafe_split_Tensor, Op::unsafe_split_with_sizes, Op::split_copy_Tensor,
              Op::split_with_sizes_copy},
             {{"self", joined}}),
      linear({Op::unbind_int, Op::unbind_copy_int}, {{"self", stacked}}),
      linear({Op::diagonal, Op::diagonal_copy}, {{"self", diagonal}}),
      linear({Op::movedim_int, Op::movedim_intlist}, {{"self", moved_back}}),
      linear({Op::unfold, Op::unfold_copy}, {{"self", unfolded}}),
      linear({Op::prims_broadcast_in_dim}, {{"a", broadcast_in_dim}}),
  };
}

}  // namespace recut::autodiff

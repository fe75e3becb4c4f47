// Data movement: concatenation, padding, flips, rolls, repetition, windows and writes into a part.
//
//   cat([a, b])  =>  slices of g      flip(x)  =>  flip(g)      repeat(x)  =>  a sum over copies
//
// Every operator here is linear in its data, and its VJP is data movement too, or a sum of moved
// elements.
#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// A slice of the gradient for each tensor. ATen's cat accepts empty one-dimensional tensors among
// others; they get zeros.
std::vector<Value> cat(VjpContext& ctx) {
  const std::int64_t dim = ctx.dim("dim", ctx.grad().rank());
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (const Value& x : ctx.list("tensors")) {
    const bool skipped = x.rank() != ctx.grad().rank();
    const std::int64_t end = start + (skipped ? 0 : x.size(dim));
    if (!ctx.needs_input_grad(x))
      parts.emplace_back();
    else if (skipped)
      parts.push_back(zeros(ctx.b, x.type()));
    else
      parts.push_back(ctx.b(Op::slice_Tensor, {ctx.grad(), dim, start, end}));
    start = end;
  }
  return parts;
}

std::vector<Value> stack(VjpContext& ctx) {
  const std::int64_t dim = ctx.dim("dim", ctx.grad().rank());
  std::vector<Value> parts;
  std::int64_t index = 0;
  for (const Value& x : ctx.list("tensors")) {
    parts.push_back(ctx.needs_input_grad(x) ? ctx.b(Op::select_int, {ctx.grad(), dim, index})
                                            : Value());
    ++index;
  }
  return parts;
}

Value constant_pad(VjpContext& ctx) {
  std::vector<std::int64_t> pad = ctx.integers("pad");
  for (std::int64_t& p : pad) p = -p;
  return ctx.b(Op::constant_pad_nd, {ctx.grad(), pad});
}

template <Op backward>
Value pad(VjpContext& ctx) {
  return ctx.b(backward, {ctx.grad(), ctx["self"], ctx.given("padding")});
}
template <Op forward>
Value pad_again(VjpContext& ctx) {
  return ctx.b(forward, {ctx.grad(), ctx.given("padding")});
}
template <Op forward, Op backward>
void add_padding(DerivativeRules& rows) {
  rows.push_back(linear({forward}, {{"self", pad<backward>}}));
  rows.push_back(vjp({backward}, {{"grad_output", pad_again<forward>}, {"self", nothing}}));
}

Value roll(VjpContext& ctx) {
  std::vector<std::int64_t> shifts = ctx.integers("shifts");
  for (std::int64_t& shift : shifts) shift = -shift;
  return ctx.b(Op::roll, {ctx.grad(), shifts, ctx.given("dims")});
}

// [r0 d0, r1 d1, …] as [r0, d0, r1, d1, …], summed over the repetitions.
Value repeat(VjpContext& ctx) {
  const Value x = ctx["self"];
  const auto repeats = ctx.integers("repeats");
  const std::size_t extra = repeats.size() - x.shape().size();
  Shape apart;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 0) return zeros(ctx.b, x.type());
    dims.push_back(static_cast<std::int64_t>(apart.size()));
    apart.push_back(repeats[i]);
    if (i >= extra) apart.push_back(x.shape()[i - extra]);
  }
  return dims.empty() ? ctx.grad() : ctx.b.sum(ctx.b.view(ctx.grad(), apart), dims);
}

std::vector<Value> tile(VjpContext& ctx) {
  std::vector<std::int64_t> repeats = ctx.integers("dims");
  const std::size_t rank = ctx["self"].shape().size();
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return {ctx.b(Op::repeat, {ctx["self"], repeats})};
}

Value repeat_interleave(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t n = ctx.integer("repeats");
  if (n == 0) return zeros(ctx.b, x.type());
  if (!ctx.is_given("dim"))
    return ctx.b.view(ctx.b.sum(ctx.b.view(ctx.grad(), {x.count(), n}), {1}), x.shape());
  const std::int64_t d = ctx.dim("dim", x.rank());
  Shape apart = x.rank() == 0 ? Shape{1} : x.shape();
  apart.insert(apart.begin() + d + 1, n);
  return ctx.b.view(ctx.b.sum(ctx.b.view(ctx.grad(), apart), {d + 1}), x.shape());
}

// The source element of each copy: the number of elements that end before it.
Value repeat_interleave_each(VjpContext& ctx) {
  const Value x = ctx["self"];
  const bool flat = !ctx.is_given("dim");
  const std::int64_t d = flat ? 0 : ctx.dim("dim", x.rank());
  const Value repeats = ctx["repeats"];
  const Value whole = flat ? ctx.b.full({x.count()}, 0, x.dtype()) : zeros(ctx.b, x.type());
  const Value ends = ctx.b(Op::cumsum, {ctx.b.expand(repeats, {whole.size(d)}), 0});
  const Value copies = ctx.b(Op::arange, {ctx.grad().size(d)});
  const Value places = ctx.b(Op::searchsorted_Tensor, {ends, copies}, {{"right", true}});
  return ctx.b.view(ctx.b(Op::index_add, {whole, d, places, ctx.grad()}), x.shape());
}

Value channel_shuffle(VjpContext& ctx) {
  const std::int64_t groups = ctx.integer("groups");
  return ctx.b(ctx.op(), {ctx.grad(), groups == 0 ? 1 : ctx["self"].size(1) / groups});
}

Value im2col(VjpContext& ctx) {
  const Value x = ctx["self"];
  return ctx.b(Op::col2im, {ctx.grad(),
                            {x.size(-2), x.size(-1)},
                            ctx.given("kernel_size"),
                            ctx.given("dilation"),
                            ctx.given("padding"),
                            ctx.given("stride")});
}
Value col2im(VjpContext& ctx) {
  return ctx.b(Op::im2col, {ctx.grad(), ctx.given("kernel_size"), ctx.given("dilation"),
                            ctx.given("padding"), ctx.given("stride")});
}

// The VJP of a *_scatter: the gradient with zeros in the part, and the part of the gradient.
Value around(VjpContext& ctx) {
  std::vector<Argument> arguments(ctx.call().arguments().begin(), ctx.call().arguments().end());
  arguments[0] = Argument(ctx.grad().id());
  arguments[1] = Argument(zeros(ctx.b, ctx["src"].type()).id());
  return ctx.b.call(ctx.op(), std::move(arguments));
}
template <Op part>
Value inside(VjpContext& ctx) {
  Positional arguments = {ctx.grad()};
  const auto& given = ctx.call().arguments();
  for (std::size_t i = 2; i < given.size(); ++i) arguments.push_back(given[i]);
  return ctx.b(part, arguments);
}

DerivativeRules paddings() {
  DerivativeRules rows;
  rows.push_back(vjp({Op::constant_pad_nd}, {{"self", constant_pad}}));
  add_padding<Op::reflection_pad1d, Op::reflection_pad1d_backward>(rows);
  add_padding<Op::reflection_pad2d, Op::reflection_pad2d_backward>(rows);
  add_padding<Op::reflection_pad3d, Op::reflection_pad3d_backward>(rows);
  add_padding<Op::replication_pad1d, Op::replication_pad1d_backward>(rows);
  add_padding<Op::replication_pad2d, Op::replication_pad2d_backward>(rows);
  add_padding<Op::replication_pad3d, Op::replication_pad3d_backward>(rows);
  return rows;
}

DerivativeRules arrangements() {
  return {
      linear({Op::cat}, {{"tensors", cat}}),
      linear({Op::stack}, {{"tensors", stack}}),
      linear({Op::flip}, {{"self",
                           [](VjpContext& ctx) {
                             return ctx.b(Op::flip, {ctx.grad(), ctx.given("dims")});
                           }}}),
      linear({Op::prims_rev}, {{"a",
                                [](VjpContext& ctx) {
                                  return ctx.b(Op::prims_rev, {ctx.grad(), ctx.given("dims")});
                                }}}),
      linear({Op::roll}, {{"self", roll}}),
      linear({Op::rot90},
             {{"self",
               [](VjpContext& ctx) {
                 return ctx.b(Op::rot90, {ctx.grad(), -ctx.integer("k"), ctx.given("dims")});
               }}}),
      linear({Op::repeat}, {{"self", repeat}}),
      decomposes({Op::tile}, tile),
      linear({Op::repeat_interleave_self_int}, {{"self", repeat_interleave}}),
      vjp({Op::repeat_interleave_self_Tensor}, {{"self", repeat_interleave_each}}),
      linear({Op::tril, Op::triu}, {{"self",
                                     [](VjpContext& ctx) {
                                       return ctx.b(ctx.op(), {ctx.grad(), ctx.given("diagonal")});
                                     }}}),
      linear({Op::diag_embed}, {{"self",
                                 [](VjpContext& ctx) {
                                   return ctx.b(Op::diagonal,
                                                {ctx.grad(), ctx.given("offset"), ctx.given("dim1"),
                                                 ctx.given("dim2")});
                                 }}}),
      linear({Op::pixel_shuffle},
             {{"self",
               [](VjpContext& ctx) {
                 return ctx.b(Op::pixel_unshuffle, {ctx.grad(), ctx.given("upscale_factor")});
               }}}),
      linear({Op::pixel_unshuffle},
             {{"self",
               [](VjpContext& ctx) {
                 return ctx.b(Op::pixel_shuffle, {ctx.grad(), ctx.given("downscale_factor")});
               }}}),
      linear({Op::channel_shuffle, Op::native_channel_shuffle}, {{"self", channel_shuffle}}),
      linear({Op::im2col}, {{"self", im2col}}),
      linear({Op::col2im}, {{"self", col2im}}),
  };
}

DerivativeRules replacements() {
  return {
      vjp({Op::slice_scatter}, {{"self", around}, {"src", inside<Op::slice_Tensor>}}),
      vjp({Op::select_scatter}, {{"self", around}, {"src", inside<Op::select_int>}}),
      vjp({Op::diagonal_scatter}, {{"self", around}, {"src", inside<Op::diagonal>}}),
      linear({Op::slice_backward}, {{"grad_output", inside<Op::slice_Tensor>}}),
      linear({Op::select_backward}, {{"grad_output", inside<Op::select_int>}}),
      linear({Op::diagonal_backward}, {{"grad_output", inside<Op::diagonal>}}),
      linear({Op::unfold_backward}, {{"grad_in", inside<Op::unfold>}}),
  };
}

}  // namespace

DerivativeRules movement_rules() {
  DerivativeRules rows;
  for (const auto family : {paddings, arrangements, replacements})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

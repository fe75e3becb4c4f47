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
std::vector<Value> cat(Site& s) {
  const std::int64_t dim = s.dim("dim", s.grad().rank());
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (const Value& x : s.list("tensors")) {
    const bool skipped = x.rank() != s.grad().rank();
    const std::int64_t end = start + (skipped ? 0 : x.size(dim));
    if (!s.wants(x))
      parts.emplace_back();
    else if (skipped)
      parts.push_back(zeros(s.b, x.type()));
    else
      parts.push_back(s.b(Op::slice_Tensor, {s.grad(), dim, start, end}));
    start = end;
  }
  return parts;
}

std::vector<Value> stack(Site& s) {
  const std::int64_t dim = s.dim("dim", s.grad().rank());
  std::vector<Value> parts;
  std::int64_t index = 0;
  for (const Value& x : s.list("tensors")) {
    parts.push_back(s.wants(x) ? s.b(Op::select_int, {s.grad(), dim, index}) : Value());
    ++index;
  }
  return parts;
}

Value constant_pad(Site& s) {
  std::vector<std::int64_t> pad = s.integers("pad");
  for (std::int64_t& p : pad) p = -p;
  return s.b(Op::constant_pad_nd, {s.grad(), pad});
}

template <Op backward>
Value pad(Site& s) {
  return s.b(backward, {s.grad(), s["self"], s.given("padding")});
}
template <Op forward>
Value pad_again(Site& s) {
  return s.b(forward, {s.grad(), s.given("padding")});
}
template <Op forward, Op backward>
void add_padding(Rows& rows) {
  rows.push_back(linear({forward}, {{"self", pad<backward>}}));
  rows.push_back(formulas({backward}, {{"grad_output", pad_again<forward>}, {"self", nothing}}));
}

Value roll(Site& s) {
  std::vector<std::int64_t> shifts = s.integers("shifts");
  for (std::int64_t& shift : shifts) shift = -shift;
  return s.b(Op::roll, {s.grad(), shifts, s.given("dims")});
}

// [r0 d0, r1 d1, …] as [r0, d0, r1, d1, …], summed over the repetitions.
Value repeat(Site& s) {
  const Value x = s["self"];
  const auto repeats = s.integers("repeats");
  const std::size_t extra = repeats.size() - x.shape().size();
  Shape apart;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 0) return zeros(s.b, x.type());
    dims.push_back(static_cast<std::int64_t>(apart.size()));
    apart.push_back(repeats[i]);
    if (i >= extra) apart.push_back(x.shape()[i - extra]);
  }
  return dims.empty() ? s.grad() : s.b.sum(s.b.view(s.grad(), apart), dims);
}

std::vector<Value> tile(Site& s) {
  std::vector<std::int64_t> repeats = s.integers("dims");
  const std::size_t rank = s["self"].shape().size();
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return {s.b(Op::repeat, {s["self"], repeats})};
}

Value repeat_interleave(Site& s) {
  const Value x = s["self"];
  const std::int64_t n = s.integer("repeats");
  if (n == 0) return zeros(s.b, x.type());
  if (!s.is_given("dim"))
    return s.b.view(s.b.sum(s.b.view(s.grad(), {x.count(), n}), {1}), x.shape());
  const std::int64_t d = s.dim("dim", x.rank());
  Shape apart = x.rank() == 0 ? Shape{1} : x.shape();
  apart.insert(apart.begin() + d + 1, n);
  return s.b.view(s.b.sum(s.b.view(s.grad(), apart), {d + 1}), x.shape());
}

// The source element of each copy: the number of elements that end before it.
Value repeat_interleave_each(Site& s) {
  const Value x = s["self"];
  const bool flat = !s.is_given("dim");
  const std::int64_t d = flat ? 0 : s.dim("dim", x.rank());
  const Value repeats = s["repeats"];
  const Value whole = flat ? s.b.full({x.count()}, 0, x.dtype()) : zeros(s.b, x.type());
  const Value ends = s.b(Op::cumsum, {s.b.expand(repeats, {whole.size(d)}), 0});
  const Value copies = s.b(Op::arange, {s.grad().size(d)});
  const Value places = s.b(Op::searchsorted_Tensor, {ends, copies}, {{"right", true}});
  return s.b.view(s.b(Op::index_add, {whole, d, places, s.grad()}), x.shape());
}

Value channel_shuffle(Site& s) {
  const std::int64_t groups = s.integer("groups");
  return s.b(s.op(), {s.grad(), groups == 0 ? 1 : s["self"].size(1) / groups});
}

Value im2col(Site& s) {
  const Value x = s["self"];
  return s.b(Op::col2im, {s.grad(),
                          {x.size(-2), x.size(-1)},
                          s.given("kernel_size"),
                          s.given("dilation"),
                          s.given("padding"),
                          s.given("stride")});
}
Value col2im(Site& s) {
  return s.b(Op::im2col, {s.grad(), s.given("kernel_size"), s.given("dilation"), s.given("padding"),
                          s.given("stride")});
}

// The VJP of a *_scatter: the gradient with zeros in the part, and the part of the gradient.
Value around(Site& s) {
  std::vector<Argument> arguments(s.call().arguments().begin(), s.call().arguments().end());
  arguments[0] = Argument(s.grad().id());
  arguments[1] = Argument(zeros(s.b, s["src"].type()).id());
  return s.b.call(s.op(), std::move(arguments));
}
template <Op part>
Value inside(Site& s) {
  Positional arguments = {s.grad()};
  const auto& given = s.call().arguments();
  for (std::size_t i = 2; i < given.size(); ++i) arguments.push_back(given[i]);
  return s.b(part, arguments);
}

Rows paddings() {
  Rows rows;
  rows.push_back(formulas({Op::constant_pad_nd}, {{"self", constant_pad}}));
  add_padding<Op::reflection_pad1d, Op::reflection_pad1d_backward>(rows);
  add_padding<Op::reflection_pad2d, Op::reflection_pad2d_backward>(rows);
  add_padding<Op::reflection_pad3d, Op::reflection_pad3d_backward>(rows);
  add_padding<Op::replication_pad1d, Op::replication_pad1d_backward>(rows);
  add_padding<Op::replication_pad2d, Op::replication_pad2d_backward>(rows);
  add_padding<Op::replication_pad3d, Op::replication_pad3d_backward>(rows);
  return rows;
}

Rows arrangements() {
  return {
      linear({Op::cat}, {{"tensors", cat}}),
      linear({Op::stack}, {{"tensors", stack}}),
      linear({Op::flip}, {{"self",
                           [](Site& s) {
                             return s.b(Op::flip, {s.grad(), s.given("dims")});
                           }}}),
      linear({Op::prims_rev}, {{"a",
                                [](Site& s) {
                                  return s.b(Op::prims_rev, {s.grad(), s.given("dims")});
                                }}}),
      linear({Op::roll}, {{"self", roll}}),
      linear({Op::rot90}, {{"self",
                            [](Site& s) {
                              return s.b(Op::rot90, {s.grad(), -s.integer("k"), s.given("dims")});
                            }}}),
      linear({Op::repeat}, {{"self", repeat}}),
      expands({Op::tile}, tile),
      linear({Op::repeat_interleave_self_int}, {{"self", repeat_interleave}}),
      formulas({Op::repeat_interleave_self_Tensor}, {{"self", repeat_interleave_each}}),
      linear({Op::tril, Op::triu}, {{"self",
                                     [](Site& s) {
                                       return s.b(s.op(), {s.grad(), s.given("diagonal")});
                                     }}}),
      linear({Op::diag_embed}, {{"self",
                                 [](Site& s) {
                                   return s.b(Op::diagonal, {s.grad(), s.given("offset"),
                                                             s.given("dim1"), s.given("dim2")});
                                 }}}),
      linear({Op::pixel_shuffle},
             {{"self",
               [](Site& s) {
                 return s.b(Op::pixel_unshuffle, {s.grad(), s.given("upscale_factor")});
               }}}),
      linear({Op::pixel_unshuffle},
             {{"self",
               [](Site& s) {
                 return s.b(Op::pixel_shuffle, {s.grad(), s.given("downscale_factor")});
               }}}),
      linear({Op::channel_shuffle, Op::native_channel_shuffle}, {{"self", channel_shuffle}}),
      linear({Op::im2col}, {{"self", im2col}}),
      linear({Op::col2im}, {{"self", col2im}}),
  };
}

Rows replacements() {
  return {
      formulas({Op::slice_scatter}, {{"self", around}, {"src", inside<Op::slice_Tensor>}}),
      formulas({Op::select_scatter}, {{"self", around}, {"src", inside<Op::select_int>}}),
      formulas({Op::diagonal_scatter}, {{"self", around}, {"src", inside<Op::diagonal>}}),
      linear({Op::slice_backward}, {{"grad_output", inside<Op::slice_Tensor>}}),
      linear({Op::select_backward}, {{"grad_output", inside<Op::select_int>}}),
      linear({Op::diagonal_backward}, {{"grad_output", inside<Op::diagonal>}}),
      linear({Op::unfold_backward}, {{"grad_in", inside<Op::unfold>}}),
  };
}

}  // namespace

Rows movement_rows() {
  Rows rows;
  for (const auto family : {paddings, arrangements, replacements})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

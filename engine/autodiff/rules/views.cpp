// Views and their copies: all of them are linear.
#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value reshaped(Site& s) { return s.b.view(s.grad(), s["self"].shape()); }

Value permuted(Site& s) {
  const auto dims = s.integers("dims");
  std::vector<std::int64_t> inverse(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto d = wrap_dimension(dims[i], static_cast<std::int64_t>(dims.size()));
    if (d && static_cast<std::size_t>(*d) < inverse.size())
      inverse[static_cast<std::size_t>(*d)] = static_cast<std::int64_t>(i);
  }
  return s.b.permute(s.grad(), inverse);
}

Value transposed(Site& s) { return s.b.transpose(s.grad(), s.integer("dim0"), s.integer("dim1")); }
Value turned(Site& s) { return s.b(Op::t, {s.grad()}); }

// The clamped start and end of ATen's slice.
Value slice_gradient(Site& s, std::int64_t start, std::int64_t end, std::int64_t step) {
  const Value x = s["self"];
  return s.b(Op::slice_backward, {s.grad(), x.shape(), s.dim("dim", x.rank()), start, end, step});
}

Value sliced(Site& s) {
  const std::int64_t n = s["self"].size(s.integer("dim"));
  const auto within = [n](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n);
  };
  const std::int64_t start = s.is_given("start") ? within(s.integer("start")) : 0;
  const std::int64_t end = s.is_given("end") ? within(s.integer("end")) : n;
  return slice_gradient(s, start, std::max(start, end), s.integer("step"));
}

Value narrowed(Site& s) {
  const std::int64_t n = s["self"].size(s.integer("dim"));
  const std::int64_t start = s.integer("start") + (s.integer("start") < 0 ? n : 0);
  return slice_gradient(s, start, start + s.integer("length"), 1);
}

Value selected(Site& s) {
  const Value x = s["self"];
  const std::int64_t dim = s.dim("dim", x.rank()), index = s.integer("index");
  return s.b(Op::select_backward,
             {s.grad(), x.shape(), dim, index < 0 ? index + x.size(dim) : index});
}

Value joined(Site& s) {
  const Value x = s["self"];
  std::vector<Value> gradients;
  for (std::int64_t i = 0; i < s.outputs(); ++i) gradients.push_back(s.grad(i));
  return s.b(Op::cat, {gradients, s.dim("dim", x.rank())});
}

Value stacked(Site& s) {
  const Value x = s["self"];
  const std::int64_t dim = s.dim("dim", x.rank());
  std::vector<Value> gradients;
  for (std::int64_t i = 0; i < x.size(dim); ++i) gradients.push_back(s.grad(i));
  if (gradients.empty()) return zeros(s.b, x.type());
  return s.b(Op::stack, {gradients, dim});
}

Value diagonal(Site& s) {
  const Value x = s["self"];
  return s.b(Op::diagonal_backward,
             {s.grad(), x.shape(), s.given("offset"), s.given("dim1"), s.given("dim2")});
}

Value moved_back(Site& s) {
  return s.b(s.op(), {s.grad(), s.given("destination"), s.given("source")});
}

Value unfolded(Site& s) {
  const Value x = s["self"];
  const std::int64_t dim = s.dim("dimension", x.rank());
  return s.b(Op::unfold_backward, {s.grad(), x.shape(), dim, s.given("size"), s.given("step")});
}

Value broadcast_in_dim(Site& s) {
  const auto places = s.integers("broadcast_dimensions");
  const Value x = s["a"];
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < s.grad().rank(); ++d) {
    const auto at = std::find(places.begin(), places.end(), d);
    const bool repeated =
        at == places.end() || (x.size(at - places.begin()) == 1 && s.grad().size(d) != 1);
    if (repeated) dims.push_back(d);
  }
  return s.b.view(dims.empty() ? s.grad() : s.b.sum(s.grad(), dims, true), x.shape());
}

}  // namespace

Rows view_rows() {
  return {
      linear({Op::alias, Op::alias_copy}, {{"self", same}}),
      linear({Op::view, Op::reshape, Op::_unsafe_view, Op::_reshape_alias, Op::view_copy,
              Op::flatten_using_ints, Op::unflatten_int, Op::squeeze, Op::squeeze_dim,
              Op::squeeze_dims, Op::squeeze_copy, Op::squeeze_copy_dim, Op::squeeze_copy_dims,
              Op::unsqueeze, Op::unsqueeze_copy},
             {{"self", reshaped}}),
      linear({Op::permute, Op::permute_copy}, {{"self", permuted}}),
      linear({Op::transpose_int, Op::transpose_copy_int}, {{"self", transposed}}),
      linear({Op::t, Op::t_copy}, {{"self", turned}}),
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

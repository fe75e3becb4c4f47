// Prefix sums and products, and what picks elements by order.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// The sum of everything from each place on.
Value reverse_cumsum(const Value& value, std::int64_t dim) {
  Builder& b = *value.builder();
  return b(Op::flip, {b(Op::cumsum, {b(Op::flip, {value, {dim}}), dim}), {dim}});
}

Value cumsum(Site& s) {
  if (s["self"].rank() == 0) return s.grad();
  return reverse_cumsum(s.grad(), s.integer("dim"));
}

// Before the first 0 of a row all later products contain the element: sum(g y) / x. At the first 0
// they are the products without it. After it all of them are 0.
Value cumprod(Site& s) {
  const Value x = s.b.convert(s["self"], s.out_type().dtype);
  if (x.rank() == 0) return s.grad();
  const std::int64_t dim = s.integer("dim");
  const Value zero = s.b(Op::eq_Scalar, {x, 0});
  const Value zeros_so_far = s.b(Op::cumsum, {zero, dim});
  const Value before = s.b(Op::eq_Scalar, {zeros_so_far, 0});
  const Value one = s.b(Op::eq_Scalar, {zeros_so_far, 1});
  const Value first = both(zero, one);
  const Value without = s.b(Op::cumprod, {number_where(first, 1, x), dim});
  const Value at_zero = reverse_cumsum(keep_where(one, without * s.grad()), dim);
  const Value elsewhere = reverse_cumsum(s.out() * s.grad(), dim) / number_where(zero, 1, x);
  return s.b.where(before, elsewhere, keep_where(first, at_zero));
}

// sum over j >= i of g_j exp(x_i - y_j): in logarithms, the positive and the negative gradients
// apart, since exp(-y) alone would overflow.
Value logcumsumexp(Site& s) {
  const Value x = s["self"], g = s.grad();
  if (x.rank() == 0) return g;
  const std::int64_t dim = s.integer("dim");
  const auto part = [&](const Value& size, const Value& there) {
    const Value some = both(there, s.b(Op::ne_Scalar, {s.out(), -INFINITY}));
    const Value logs =
        s.b.log(number_where(negated(some), 1, size)) - zero_where(negated(some), s.out());
    const Value turned = s.b(Op::flip, {number_where(negated(some), -INFINITY, logs), {dim}});
    return s.b.exp(s.b(Op::flip, {s.b(Op::logcumsumexp, {turned, dim}), {dim}}) + x);
  };
  return part(g, s.b(Op::gt_Scalar, {g, 0})) - part(-g, s.b(Op::lt_Scalar, {g, 0}));
}

// Gradients put back to where the values were taken from; `indices` along `dim`.
Value put_back(Site& s, const Value& gradient, const Value& indices) {
  const Value x = s["self"];
  const std::int64_t dim = x.rank() == 0 ? 0 : s.dim("dim", x.rank());
  return s.b(Op::scatter_add, {zeros(s.b, x.type()), dim, indices, gradient});
}

Value picked(Site& s) { return put_back(s, s.grad(), s.out(1)); }

Value picked_one(Site& s) {
  const Value x = s["self"];
  const std::vector<std::int64_t> dims = {s.integer("dim")};
  const bool keep = s.boolean("keepdim");
  return put_back(s, with_dims_kept(s.grad(), x.shape(), dims, keep),
                  with_dims_kept(s.out(1), x.shape(), dims, keep));
}

std::vector<Value> msort(Site& s) { return {s.b(Op::sort, {s["self"], 0})[0]}; }

}  // namespace

Rows scan_rows() {
  return {
      linear({Op::cumsum}, {{"self", cumsum}}),
      formulas({Op::cumprod}, {{"self", cumprod}}),
      formulas({Op::logcumsumexp}, {{"self", logcumsumexp}}),
      formulas({Op::cummax, Op::cummin}, {{"self", picked}}, 1),
  };
}

Rows order_rows() {
  return {
      formulas({Op::sort, Op::sort_stable, Op::topk}, {{"self", picked}}, 1),
      formulas(
          {Op::max_dim, Op::min_dim, Op::kthvalue, Op::median_dim, Op::nanmedian_dim, Op::mode},
          {{"self", picked_one}}, 1),
      expands({Op::msort}, msort),
  };
}

}  // namespace recut::autodiff

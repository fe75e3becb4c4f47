// Sums of complex numbers, which are those of their parts; variances, and products of elements.
#include "engine/passes/complex/call_parts.h"

namespace recut::complex_parts {
namespace {

MaybeParts sum_of_each(CallParts& c) { return c.of_each(); }

// The variance, or its root, of each part.
Parts spread_of_each(CallParts& c) {
  const Op op = c.call.op().op;
  const Value re = c.b.call(op, c.arguments_of(CallParts::Which::re));
  if (!c.has_imaginary_operand()) return {re, {}};
  return {re, c.b.call(op, c.arguments_of(CallParts::Which::im))};
}

MaybeParts variance(CallParts& c) {
  const Parts spread = spread_of_each(c);
  return Parts{spread.re + spread.im, {}};
}

MaybeParts deviation(CallParts& c) { return Parts{magnitude(spread_of_each(c)), {}}; }

// The products of the elements along a dimension, of halves with each other: log2(n) steps.
class ElementProduct {
 public:
  ElementProduct(CallParts& c, Parts x, std::int64_t dim, std::int64_t length)
      : c_(c), x_(x), dim_(dim), length_(length) {}

  // Without the dimension.
  Parts run() {
    if (length_ == 0) return {1.0, {}};
    Parts odd{1.0, {}};
    for (; length_ > 1; length_ /= 2) {
      const std::int64_t half = length_ / 2;
      if (length_ % 2 != 0) odd = odd * sliced(length_ - 1, length_);
      x_ = sliced(0, half) * sliced(half, 2 * half);
    }
    return of_tensors(x_ * odd, [&](const Value& part) {
      return c_.b(Op::squeeze_dim, {part, dim_});
    });
  }

 private:
  Parts sliced(std::int64_t start, std::int64_t end) const {
    return of_tensors(x_, [&](const Value& part) {
      return c_.b(Op::slice_Tensor, {part, dim_, start, end});
    });
  }

  CallParts& c_;
  Parts x_;
  const std::int64_t dim_;
  std::int64_t length_;
};

// Both parts as tensors of the operand's shape.
Parts whole_operand(CallParts& c) {
  const TensorType& type = c.call.tensor("self");
  const auto tensor = [&](const Part& part) {
    return part.is(0) ? part : Part(part.filled(c.b, c.dtype(), type.shape, type.device));
  };
  const Parts x = c["self"];
  return {tensor(x.re), tensor(x.im)};
}

MaybeParts product_of_all(CallParts& c) {
  const std::int64_t count = element_count(c.call.tensor("self").shape);
  const Parts x =
      of_tensors(whole_operand(c), [&](const Value& part) { return c.b.view(part, {count}); });
  return ElementProduct(c, x, 0, count).run();
}

MaybeParts product_along(CallParts& c) {
  const TensorType& type = c.call.tensor("self");
  const auto dim = wrap_dimension(c.call.integer("dim"), type.rank());
  if (!dim) return std::nullopt;
  if (type.shape.empty()) return whole_operand(c);
  const std::int64_t length = type.shape[static_cast<std::size_t>(*dim)];
  const Parts product = ElementProduct(c, whole_operand(c), *dim, length).run();
  if (!c.call.boolean("keepdim")) return product;
  return of_tensors(product, [&](const Value& part) { return c.b(Op::unsqueeze, {part, *dim}); });
}

}  // namespace

void add_reductions(PartRules& rules) {
  for (const Op op : {Op::sum, Op::sum_dim_IntList, Op::mean, Op::mean_dim, Op::cumsum, Op::trace})
    rules.set(op, sum_of_each);
  for (const Op op : {Op::var, Op::var_dim, Op::var_correction}) rules.set(op, variance);
  for (const Op op : {Op::std, Op::std_dim, Op::std_correction}) rules.set(op, deviation);
  rules.set(Op::prod, product_of_all);
  rules.set(Op::prod_dim_int, product_along);
}

}  // namespace recut::complex_parts

// Comparisons, logic, selection and bits.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

// 0 for NaN, as in ATen (unlike NumPy).
ScalarExpr heaviside(ScalarExpr x, ScalarExpr at_zero) {
  return select(x == 0.0, at_zero, select(x > 0.0, x.like(1), x.like(0)));
}

ScalarExpr is_close(const ElementContext& ctx) {
  const DType common = ctx.common();
  ScalarExpr a = ctx.operand("self", common, ScalarPromotion::comparison);
  ScalarExpr b = ctx.operand("other", common, ScalarPromotion::comparison);
  if (!a.real()) {
    a = a.to(DType::f64);
    b = b.to(DType::f64);
  }
  const ScalarExpr distance = abs(a - b);
  const ScalarExpr within =
      (distance < HUGE_VAL) & (distance <= ctx.call.real("atol") + abs(ctx.call.real("rtol") * b));
  const ScalarExpr same = (a == b) | within;
  return ctx.call.boolean("equal_nan") ? same | (is_nan(a) & is_nan(b)) : same;
}

ScalarExpr clamp(const ElementContext& ctx) {
  const DType common = ctx.common();
  ScalarExpr x = ctx.operand("self", common);
  if (ctx.call.given("min")) x = larger(x, ctx.operand("min", common));
  if (ctx.call.given("max")) x = smaller(x, ctx.operand("max", common));
  return x;
}

ScalarExpr where(const ElementContext& ctx) {
  const ScalarExpr condition = ctx.raw("condition").to(DType::boolean);
  const ScalarExpr yes = ctx.operand("self", ctx.dtype(), ScalarPromotion::comparison);
  return select(condition, yes, ctx.operand("other", ctx.dtype(), ScalarPromotion::comparison));
}

// The other operand where one is NaN (fmax and fmin).
ScalarExpr larger_number(ScalarExpr a, ScalarExpr b) {
  if (!a.real()) return larger(a, b);
  return select(is_nan(a) | (a < b), select(is_nan(b), a, b), a);
}
ScalarExpr smaller_number(ScalarExpr a, ScalarExpr b) {
  if (!a.real()) return smaller(a, b);
  return select(is_nan(a) | (a > b), select(is_nan(b), a, b), a);
}

ScalarExpr bitwise_not(const ElementContext& ctx) {
  const ScalarExpr x = ctx.operand("self", ctx.common());
  return ctx.dtype() == DType::boolean ? x == 0.0 : !x;
}

std::int64_t bits_of(DType dtype) { return dtype == DType::boolean ? 1 : 8 * item_bytes(dtype); }

ScalarExpr left_shift(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr x = ctx.operand(std::size_t{0}, common);
  const ScalarExpr by = ctx.operand(1, common);
  const auto width = static_cast<double>(bits_of(common));
  return select((by < 0.0) | (by >= width), x.like(0), shift_left(x, by));
}

ScalarExpr masked_fill(const ElementContext& ctx) {
  const ScalarExpr self = ctx.operand("self", ctx.dtype(), ScalarPromotion::comparison);
  const ScalarExpr value = ctx.operand("value", ctx.dtype(), ScalarPromotion::comparison);
  return select(ctx.raw("mask").to(DType::boolean), value, self);
}

// Integers and bools are never NaN or infinite.
template <class F>
Formula of_reals(F) {
  return [](const ElementContext& ctx) {
    const ScalarExpr x = ctx.operand(std::size_t{0}, ctx.common(), ScalarPromotion::comparison);
    return F{}(x.real() ? x : x.to(DType::f64));
  };
}

void add_predicates(FormulaTable& table) {
  table.insert(
      table.end(),
      {{Op::logical_and,
        predicates([](ScalarExpr a, ScalarExpr b) { return (a != 0.0) & (b != 0.0); })},
       {Op::logical_or,
        predicates([](ScalarExpr a, ScalarExpr b) { return (a != 0.0) | (b != 0.0); })},
       {Op::logical_xor,
        predicates([](ScalarExpr a, ScalarExpr b) { return (a != 0.0) != (b != 0.0); })},
       {Op::logical_not, predicate([](ScalarExpr a) { return a == 0.0; })},
       {Op::isnan, of_reals([](ScalarExpr x) { return is_nan(x); })},
       {Op::isinf, of_reals([](ScalarExpr x) { return is_infinite(x); })},
       {Op::isfinite, of_reals([](ScalarExpr x) { return abs(x) < HUGE_VAL; })},
       {Op::isposinf, of_reals([](ScalarExpr x) { return x == HUGE_VAL; })},
       {Op::isneginf, of_reals([](ScalarExpr x) { return x == -HUGE_VAL; })},
       {Op::signbit, of_reals([](ScalarExpr x) { return copysign(x.like(1), x) < 0.0; })},
       {Op::heaviside, numerics([](ScalarExpr a, ScalarExpr b) { return heaviside(a, b); })},
       {Op::isclose, is_close}});
}

void add_bits(FormulaTable& table) {
  const Formula both = numerics([](ScalarExpr a, ScalarExpr b) { return a & b; });
  const Formula either = numerics([](ScalarExpr a, ScalarExpr b) { return a | b; });
  const Formula one = numerics([](ScalarExpr a, ScalarExpr b) { return a ^ b; });
  const Formula right = numerics([](ScalarExpr a, ScalarExpr b) { return shift_right(a, b); });
  for (const Op op :
       {Op::bitwise_and_Tensor, Op::bitwise_and_Scalar, Op::bitwise_and_Scalar_Tensor})
    table.push_back({op, both});
  for (const Op op : {Op::bitwise_or_Tensor, Op::bitwise_or_Scalar, Op::bitwise_or_Scalar_Tensor})
    table.push_back({op, either});
  for (const Op op :
       {Op::bitwise_xor_Tensor, Op::bitwise_xor_Scalar, Op::bitwise_xor_Scalar_Tensor})
    table.push_back({op, one});
  for (const Op op :
       {Op::bitwise_left_shift_Tensor, Op::bitwise_left_shift_Tensor_Scalar,
        Op::bitwise_left_shift_Scalar_Tensor, Op::__lshift___Tensor, Op::__lshift___Scalar})
    table.push_back({op, left_shift});
  for (const Op op :
       {Op::bitwise_right_shift_Tensor, Op::bitwise_right_shift_Tensor_Scalar,
        Op::bitwise_right_shift_Scalar_Tensor, Op::__rshift___Tensor, Op::__rshift___Scalar})
    table.push_back({op, right});
  table.push_back({Op::bitwise_not, bitwise_not});
}

}  // namespace

void add_comparison_formulas(FormulaTable& table) {
  const auto pair = [&](Op tensor, Op scalar, Formula formula) {
    table.push_back({tensor, formula});
    table.push_back({scalar, formula});
  };
  pair(Op::eq_Tensor, Op::eq_Scalar, predicates([](ScalarExpr a, ScalarExpr b) { return a == b; }));
  pair(Op::ne_Tensor, Op::ne_Scalar, predicates([](ScalarExpr a, ScalarExpr b) { return a != b; }));
  pair(Op::lt_Tensor, Op::lt_Scalar, predicates([](ScalarExpr a, ScalarExpr b) { return a < b; }));
  pair(Op::le_Tensor, Op::le_Scalar, predicates([](ScalarExpr a, ScalarExpr b) { return a <= b; }));
  pair(Op::gt_Tensor, Op::gt_Scalar, predicates([](ScalarExpr a, ScalarExpr b) { return a > b; }));
  pair(Op::ge_Tensor, Op::ge_Scalar, predicates([](ScalarExpr a, ScalarExpr b) { return a >= b; }));
  add_predicates(table);
  const Formula maximum = numerics([](ScalarExpr a, ScalarExpr b) { return larger(a, b); });
  const Formula minimum = numerics([](ScalarExpr a, ScalarExpr b) { return smaller(a, b); });
  for (const Op op : {Op::maximum, Op::max_other, Op::clamp_min, Op::clamp_min_Tensor})
    table.push_back({op, maximum});
  for (const Op op : {Op::minimum, Op::min_other, Op::clamp_max, Op::clamp_max_Tensor})
    table.push_back({op, minimum});
  table.push_back(
      {Op::fmax, numerics([](ScalarExpr a, ScalarExpr b) { return larger_number(a, b); })});
  table.push_back(
      {Op::fmin, numerics([](ScalarExpr a, ScalarExpr b) { return smaller_number(a, b); })});
  pair(Op::clamp, Op::clamp_Tensor, clamp);
  for (const Op op :
       {Op::where_self, Op::where_ScalarSelf, Op::where_ScalarOther, Op::where_Scalar})
    table.push_back({op, where});
  pair(Op::masked_fill_Scalar, Op::masked_fill_Tensor, masked_fill);
  add_bits(table);
}

}  // namespace recut::loop

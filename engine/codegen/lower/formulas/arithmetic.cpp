// Sums, products, quotients, remainders, powers and rounding.
#include "engine/codegen/lower/formula.h"
#include "engine/ir/promotion.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

// An integer or real constant of a Scalar parameter, in the type of `beside`.
ScalarExpr scalar_like(const ElementContext& ctx, std::string_view parameter, ScalarExpr beside) {
  const Scalar scalar = ctx.call.scalar(parameter);
  if (beside.real()) return beside.like(ctx.scalar_value(parameter, ctx.common()));
  return ScalarExpr::constant(beside.builder(), beside.type(), scalar.integer);
}

// True for a Scalar of 1: no multiplication is emitted then.
bool is_one(const ElementContext& ctx, std::string_view parameter) {
  const Scalar scalar = ctx.call.scalar(parameter);
  return is_floating(ctx.common()) ? ctx.scalar_value(parameter, ctx.common()) == 1
                                   : scalar.integer == 1;
}

ScalarExpr scaled(const ElementContext& ctx, std::string_view parameter, ScalarExpr a) {
  return is_one(ctx, parameter) ? a : scalar_like(ctx, parameter, a) * a;
}

ScalarExpr add(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr self = ctx.operand("self", common);
  return self + scaled(ctx, "alpha", ctx.operand("other", common));
}

ScalarExpr subtract(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr self = ctx.operand("self", common);
  return self - scaled(ctx, "alpha", ctx.operand("other", common));
}

ScalarExpr subtract_from(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr other = ctx.operand("other", common);
  return other - scaled(ctx, "alpha", ctx.operand("self", common));
}

ScalarExpr signs_differ(ScalarExpr a, ScalarExpr b) { return (a < 0.0) != (b < 0.0); }

// Python's floor division through fmod: the quotient of a - fmod(a, b) is an integer up to
// rounding.
ScalarExpr floored_quotient(ScalarExpr a, ScalarExpr b) {
  const ScalarExpr over = rem(a, b);
  const ScalarExpr corrected = (over != 0.0) & signs_differ(b, over);
  if (!a.real()) {
    const ScalarExpr whole = quotient(a, b);
    return select(corrected, whole - 1.0, whole);
  }
  const ScalarExpr exact = (a - over) / b;
  const ScalarExpr lowered = select(corrected, exact - 1.0, exact);
  const ScalarExpr whole = floor(lowered);
  const ScalarExpr near = select(lowered - whole > 0.5, whole + 1.0, whole);
  const ScalarExpr zero = copysign(a.like(0), a / b);
  return select(b == 0.0, a / b, select(lowered == 0.0, zero, near));
}

ScalarExpr trunc_quotient(ScalarExpr a, ScalarExpr b) {
  return a.real() ? trunc(a / b) : quotient(a, b);
}

ScalarExpr floor_rest(ScalarExpr a, ScalarExpr b) {
  const ScalarExpr over = rem(a, b);
  return select((over != 0.0) & signs_differ(b, over), over + b, over);
}

ScalarExpr divide(const ElementContext& ctx) {
  const DType common = ctx.real_common();
  const ScalarExpr a = ctx.operand(std::size_t{0}, common);
  return a / ctx.operand(1, common);
}

ScalarExpr divide_rounded(const ElementContext& ctx) {
  const std::string_view mode = ctx.call.text("rounding_mode");
  if (mode != "floor" && mode != "trunc") return divide(ctx);
  const DType common = ctx.common();
  const ScalarExpr a = ctx.operand("self", common);
  const ScalarExpr b = ctx.operand("other", common);
  return mode == "floor" ? floored_quotient(a, b) : trunc_quotient(a, b);
}

// prims.div has no true division of integers.
ScalarExpr divide_prims(const ElementContext& ctx) {
  if (is_floating(ctx.common())) return divide(ctx);
  const ScalarExpr a = ctx.operand("self", ctx.common());
  return quotient(a, ctx.operand("other", ctx.common()));
}

ScalarExpr addcmul(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr self = ctx.operand("self", common);
  const ScalarExpr a = ctx.operand("tensor1", common);
  const ScalarExpr b = ctx.operand("tensor2", common);
  return self + scaled(ctx, "value", a) * b;
}

ScalarExpr addcdiv(const ElementContext& ctx) {
  const DType common = ctx.real_common();
  const ScalarExpr self = ctx.operand("self", common);
  const ScalarExpr a = ctx.operand("tensor1", common);
  const ScalarExpr b = ctx.operand("tensor2", common);
  return self + scaled(ctx, "value", a) / b;
}

ScalarExpr fma(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr a = ctx.operand("self", common);
  const ScalarExpr b = ctx.operand("other", common);
  return a * b + ctx.operand("addend", common);
}

// Exact at both ends: the upper half counts backwards from `end`.
ScalarExpr lerp(const ElementContext& ctx) {
  const DType common = ctx.dtype();
  const ScalarExpr from = ctx.operand("self", common);
  const ScalarExpr to = ctx.operand("end", common);
  const ScalarExpr weight = ctx.operand("weight", common);
  const ScalarExpr delta = to - from;
  return select(weight < 0.5, from + weight * delta, to - delta * (1.0 - weight));
}

// Integer powers by squaring; the exponent is a constant of the graph.
ScalarExpr whole_power(ScalarExpr base, std::int64_t exponent) {
  if (exponent < 0) {
    const ScalarExpr odd = base.like(exponent % 2 == 0 ? 1 : -1);
    return select(base == 1.0, base, select(base == -1.0, odd, base.like(0)));
  }
  std::optional<ScalarExpr> result;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) result = result ? *result * base : base;
    base = base * base;
  }
  return result ? *result : base.like(1);
}

// In f32, products are faster than a logarithm and lose less than a bit each; in f64, pow gives
// eval's bits.
bool is_short_product(DType type, double exponent) {
  return type == DType::f32 && exponent == std::trunc(exponent) && exponent > 2 && exponent <= 8;
}

// ATen computes these exponents by other functions; three of them treat -0 and -inf differently.
ScalarExpr power_of_number(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr base = ctx.operand("self", common);
  const Scalar exponent = ctx.call.scalar("exponent");
  if (!base.real()) return whole_power(base, exponent.integer);
  if (exponent.real == 2) return base * base;
  if (exponent.real == 0.5) return sqrt(base);
  if (exponent.real == -0.5) return 1.0 / sqrt(base);
  if (exponent.real == -1) return 1.0 / base;
  if (is_short_product(base.type(), exponent.real))
    return whole_power(base, static_cast<std::int64_t>(exponent.real));
  return pow(base, ctx.operand("exponent", common));
}

std::optional<std::string> integer_power(const Call& call) {
  if (is_floating(result_dtype(call))) return std::nullopt;
  return "the power of integers by exponents that are data";
}

ScalarExpr float_power(const ElementContext& ctx) {
  const ScalarExpr base = ctx.operand(std::size_t{0}, DType::f64);
  return pow(base, ctx.operand(1, DType::f64));
}

ScalarExpr round_decimals(const ElementContext& ctx) {
  const DType dtype = ctx.dtype();
  const std::int64_t decimals = ctx.call.integer("decimals");
  const ScalarExpr x = ctx.operand("self", ctx.common());
  if (!x.real()) return x;
  const double magnitude = std::pow(10.0, std::fabs(static_cast<double>(decimals)));
  const auto at_dtype = [&](ScalarExpr q) { return ctx.lowering.rounded(q, dtype).to(x.type()); };
  const ScalarExpr ten = at_dtype(x.like(magnitude));
  return decimals < 0 ? nearest(at_dtype(x / ten)) * ten : nearest(at_dtype(x * ten)) / ten;
}

ScalarExpr sign_of(ScalarExpr x) {
  return select(x > 0.0, x.like(1), select(x < 0.0, x.like(-1), x.like(0)));
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f32:
      return 0x1.fffffep127;
    default:
      return 0x1.fffffffffffffp1023;
  }
}

ScalarExpr nan_to_num(const ElementContext& ctx) {
  const ScalarExpr x = ctx.operand("self", ctx.common());
  if (!x.real()) return x;
  const double most = largest(ctx.dtype());
  const auto given = [&](std::string_view parameter, double otherwise) {
    return x.like(ctx.call.given(parameter) ? ctx.call.real(parameter) : otherwise);
  };
  const ScalarExpr infinite = select(x > 0.0, given("posinf", most), given("neginf", -most));
  return select(is_nan(x), given("nan", 0), select(is_infinite(x), infinite, x));
}

ScalarExpr nextafter(const ElementContext& ctx) {
  const DType type = value_type(ctx.dtype());
  const ScalarExpr x = ctx.operand("self", ctx.common()).to(type);
  return operate(ScalarOp::nextafter, x, ctx.operand("other", ctx.common()).to(type));
}

std::optional<std::string> half_neighbours(const Call& call) {
  if (item_bytes(result_dtype(call)) > 2) return std::nullopt;
  return "neighbours of 16 bit numbers";
}

void add_rounding(FormulaTable& table) {
  table.insert(
      table.end(),
      {{Op::floor, numeric([](ScalarExpr x) { return x.real() ? floor(x) : x; })},
       {Op::ceil, numeric([](ScalarExpr x) { return x.real() ? ceil(x) : x; })},
       {Op::trunc, numeric([](ScalarExpr x) { return x.real() ? trunc(x) : x; })},
       {Op::fix, numeric([](ScalarExpr x) { return x.real() ? trunc(x) : x; })},
       {Op::round, numeric([](ScalarExpr x) { return x.real() ? nearest(x) : x; })},
       {Op::frac, numeric([](ScalarExpr x) { return x.real() ? x - trunc(x) : x; })},
       {Op::round_decimals, round_decimals},
       {Op::abs, numeric([](ScalarExpr x) { return abs(x); })},
       {Op::neg, numeric([](ScalarExpr x) { return -x; })},
       {Op::positive, numeric([](ScalarExpr x) { return x; })},
       {Op::sign, numeric([](ScalarExpr x) { return sign_of(x); })},
       {Op::sgn, numeric([](ScalarExpr x) { return sign_of(x); })},
       {Op::nan_to_num, nan_to_num},
       {Op::nextafter, nextafter, half_neighbours},
       {Op::copysign_Tensor, reals([](ScalarExpr a, ScalarExpr b) { return copysign(a, b); })},
       {Op::copysign_Scalar, reals([](ScalarExpr a, ScalarExpr b) { return copysign(a, b); })},
       {Op::angle, real([](ScalarExpr x) {
          return select(is_nan(x), x, select(x < 0.0, x.like(kPi), x.like(0)));
        })},
       {Op::deg2rad, real([](ScalarExpr x) { return x * (kPi / 180); })},
       {Op::rad2deg, real([](ScalarExpr x) { return x * (180 / kPi); })}});
}

}  // namespace

void add_arithmetic_formulas(FormulaTable& table) {
  const Formula product = numerics([](ScalarExpr a, ScalarExpr b) { return a * b; });
  const Formula floored =
      numerics([](ScalarExpr a, ScalarExpr b) { return floored_quotient(a, b); });
  const Formula modulo = numerics([](ScalarExpr a, ScalarExpr b) { return floor_rest(a, b); });
  const Formula remainder = numerics([](ScalarExpr a, ScalarExpr b) { return rem(a, b); });
  const Formula power = numerics([](ScalarExpr a, ScalarExpr b) { return pow(a, b); });
  for (const Op op : {Op::add_Tensor, Op::add_Scalar}) table.push_back({op, add});
  for (const Op op : {Op::sub_Tensor, Op::sub_Scalar}) table.push_back({op, subtract});
  for (const Op op : {Op::rsub_Tensor, Op::rsub_Scalar}) table.push_back({op, subtract_from});
  for (const Op op : {Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul})
    table.push_back({op, product});
  for (const Op op : {Op::div_Tensor, Op::div_Scalar}) table.push_back({op, divide});
  for (const Op op : {Op::div_Tensor_mode, Op::div_Scalar_mode})
    table.push_back({op, divide_rounded});
  for (const Op op : {Op::floor_divide, Op::floor_divide_Scalar}) table.push_back({op, floored});
  for (const Op op : {Op::remainder_Tensor, Op::remainder_Scalar, Op::remainder_Scalar_Tensor})
    table.push_back({op, modulo});
  for (const Op op : {Op::fmod_Tensor, Op::fmod_Scalar}) table.push_back({op, remainder});
  for (const Op op : {Op::pow_Tensor_Tensor, Op::pow_Scalar})
    table.push_back({op, power, integer_power});
  for (const Op op :
       {Op::float_power_Tensor_Tensor, Op::float_power_Tensor_Scalar, Op::float_power_Scalar})
    table.push_back({op, float_power});
  for (const Op op : {Op::lerp_Scalar, Op::lerp_Tensor}) table.push_back({op, lerp});
  table.push_back({Op::prims_add, numerics([](ScalarExpr a, ScalarExpr b) { return a + b; })});
  table.push_back({Op::prims_sub, numerics([](ScalarExpr a, ScalarExpr b) { return a - b; })});
  table.push_back({Op::prims_div, divide_prims});
  table.push_back({Op::prims_fma, fma});
  table.push_back({Op::addcmul, addcmul});
  table.push_back({Op::addcdiv, addcdiv});
  table.push_back({Op::square, numeric([](ScalarExpr x) { return x * x; })});
  table.push_back({Op::pow_Tensor_Scalar, power_of_number});
  table.push_back(
      {Op::ldexp_Tensor, reals([](ScalarExpr x, ScalarExpr e) { return x * exp2(e); })});
  add_rounding(table);
}

}  // namespace recut::loop

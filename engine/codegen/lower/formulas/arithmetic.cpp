// Sums, products, quotients, remainders, powers and rounding.
#include "engine/codegen/lower/formula.h"
#include "engine/ir/promotion.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

// An integer or real constant of a Scalar parameter, in the type of `beside`.
Quantity scalar_like(const Site& s, std::string_view parameter, Quantity beside) {
  const Scalar scalar = s.call.scalar(parameter);
  if (beside.real()) return beside.like(s.given(parameter, s.common()));
  return Quantity::constant(beside.builder(), beside.type(), scalar.integer);
}

// True for a Scalar of 1: no multiplication is emitted then.
bool is_one(const Site& s, std::string_view parameter) {
  const Scalar scalar = s.call.scalar(parameter);
  return is_floating(s.common()) ? s.given(parameter, s.common()) == 1 : scalar.integer == 1;
}

Quantity scaled(const Site& s, std::string_view parameter, Quantity a) {
  return is_one(s, parameter) ? a : scalar_like(s, parameter, a) * a;
}

Quantity add(const Site& s) {
  const DType common = s.common();
  const Quantity self = s.operand("self", common);
  return self + scaled(s, "alpha", s.operand("other", common));
}

Quantity subtract(const Site& s) {
  const DType common = s.common();
  const Quantity self = s.operand("self", common);
  return self - scaled(s, "alpha", s.operand("other", common));
}

Quantity subtract_from(const Site& s) {
  const DType common = s.common();
  const Quantity other = s.operand("other", common);
  return other - scaled(s, "alpha", s.operand("self", common));
}

Quantity signs_differ(Quantity a, Quantity b) { return (a < 0.0) != (b < 0.0); }

// Python's floor division through fmod: the quotient of a - fmod(a, b) is an integer up to
// rounding.
Quantity floored_quotient(Quantity a, Quantity b) {
  const Quantity over = rest(a, b);
  const Quantity corrected = (over != 0.0) & signs_differ(b, over);
  if (!a.real()) {
    const Quantity whole = quotient(a, b);
    return select(corrected, whole - 1.0, whole);
  }
  const Quantity exact = (a - over) / b;
  const Quantity lowered = select(corrected, exact - 1.0, exact);
  const Quantity whole = floor(lowered);
  const Quantity near = select(lowered - whole > 0.5, whole + 1.0, whole);
  const Quantity zero = copysign(a.like(0), a / b);
  return select(b == 0.0, a / b, select(lowered == 0.0, zero, near));
}

Quantity trunc_quotient(Quantity a, Quantity b) { return a.real() ? trunc(a / b) : quotient(a, b); }

Quantity floor_rest(Quantity a, Quantity b) {
  const Quantity over = rest(a, b);
  return select((over != 0.0) & signs_differ(b, over), over + b, over);
}

Quantity divide(const Site& s) {
  const DType common = s.real_common();
  const Quantity a = s.operand(std::size_t{0}, common);
  return a / s.operand(1, common);
}

Quantity divide_rounded(const Site& s) {
  const std::string_view mode = s.call.text("rounding_mode");
  if (mode != "floor" && mode != "trunc") return divide(s);
  const DType common = s.common();
  const Quantity a = s.operand("self", common);
  const Quantity b = s.operand("other", common);
  return mode == "floor" ? floored_quotient(a, b) : trunc_quotient(a, b);
}

// prims.div has no true division of integers.
Quantity divide_prims(const Site& s) {
  if (is_floating(s.common())) return divide(s);
  const Quantity a = s.operand("self", s.common());
  return quotient(a, s.operand("other", s.common()));
}

Quantity addcmul(const Site& s) {
  const DType common = s.common();
  const Quantity self = s.operand("self", common);
  const Quantity a = s.operand("tensor1", common);
  const Quantity b = s.operand("tensor2", common);
  return self + scaled(s, "value", a) * b;
}

Quantity addcdiv(const Site& s) {
  const DType common = s.real_common();
  const Quantity self = s.operand("self", common);
  const Quantity a = s.operand("tensor1", common);
  const Quantity b = s.operand("tensor2", common);
  return self + scaled(s, "value", a) / b;
}

Quantity fma(const Site& s) {
  const DType common = s.common();
  const Quantity a = s.operand("self", common);
  const Quantity b = s.operand("other", common);
  return a * b + s.operand("addend", common);
}

// Exact at both ends: the upper half counts backwards from `end`.
Quantity lerp(const Site& s) {
  const DType common = s.dtype();
  const Quantity from = s.operand("self", common);
  const Quantity to = s.operand("end", common);
  const Quantity weight = s.operand("weight", common);
  const Quantity way = to - from;
  return select(weight < 0.5, from + weight * way, to - way * (1.0 - weight));
}

// Integer powers by squaring; the exponent is a constant of the graph.
Quantity whole_power(Quantity base, std::int64_t exponent) {
  if (exponent < 0) {
    const Quantity odd = base.like(exponent % 2 == 0 ? 1 : -1);
    return select(base == 1.0, base, select(base == -1.0, odd, base.like(0)));
  }
  std::optional<Quantity> result;
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
Quantity power_of_number(const Site& s) {
  const DType common = s.common();
  const Quantity base = s.operand("self", common);
  const Scalar exponent = s.call.scalar("exponent");
  if (!base.real()) return whole_power(base, exponent.integer);
  if (exponent.real == 2) return base * base;
  if (exponent.real == 0.5) return sqrt(base);
  if (exponent.real == -0.5) return 1.0 / sqrt(base);
  if (exponent.real == -1) return 1.0 / base;
  if (is_short_product(base.type(), exponent.real))
    return whole_power(base, static_cast<std::int64_t>(exponent.real));
  return pow(base, s.operand("exponent", common));
}

std::optional<std::string> integer_power(const Call& call) {
  if (is_floating(result_dtype(call))) return std::nullopt;
  return "the power of integers by exponents that are data";
}

Quantity float_power(const Site& s) {
  const Quantity base = s.operand(std::size_t{0}, DType::f64);
  return pow(base, s.operand(1, DType::f64));
}

Quantity round_decimals(const Site& s) {
  const DType dtype = s.dtype();
  const std::int64_t decimals = s.call.integer("decimals");
  const Quantity x = s.operand("self", s.common());
  if (!x.real()) return x;
  const double magnitude = std::pow(10.0, std::fabs(static_cast<double>(decimals)));
  const auto at_dtype = [&](Quantity q) { return s.lowering.rounded(q, dtype).to(x.type()); };
  const Quantity ten = at_dtype(x.like(magnitude));
  return decimals < 0 ? nearest(at_dtype(x / ten)) * ten : nearest(at_dtype(x * ten)) / ten;
}

Quantity sign_of(Quantity x) {
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

Quantity nan_to_num(const Site& s) {
  const Quantity x = s.operand("self", s.common());
  if (!x.real()) return x;
  const double most = largest(s.dtype());
  const auto given = [&](std::string_view parameter, double otherwise) {
    return x.like(s.call.given(parameter) ? s.call.real(parameter) : otherwise);
  };
  const Quantity infinite = select(x > 0.0, given("posinf", most), given("neginf", -most));
  return select(is_nan(x), given("nan", 0), select(is_infinite(x), infinite, x));
}

Quantity nextafter(const Site& s) {
  const DType type = value_type(s.dtype());
  const Quantity x = s.operand("self", s.common()).to(type);
  return operate(ScalarOp::nextafter, x, s.operand("other", s.common()).to(type));
}

std::optional<std::string> half_neighbours(const Call& call) {
  if (item_bytes(result_dtype(call)) > 2) return std::nullopt;
  return "neighbours of 16 bit numbers";
}

void add_rounding(FormulaTable& table) {
  table.insert(table.end(),
               {{Op::floor, numeric([](Quantity x) { return x.real() ? floor(x) : x; })},
                {Op::ceil, numeric([](Quantity x) { return x.real() ? ceil(x) : x; })},
                {Op::trunc, numeric([](Quantity x) { return x.real() ? trunc(x) : x; })},
                {Op::fix, numeric([](Quantity x) { return x.real() ? trunc(x) : x; })},
                {Op::round, numeric([](Quantity x) { return x.real() ? nearest(x) : x; })},
                {Op::frac, numeric([](Quantity x) { return x.real() ? x - trunc(x) : x; })},
                {Op::round_decimals, round_decimals},
                {Op::abs, numeric([](Quantity x) { return abs(x); })},
                {Op::neg, numeric([](Quantity x) { return -x; })},
                {Op::positive, numeric([](Quantity x) { return x; })},
                {Op::sign, numeric([](Quantity x) { return sign_of(x); })},
                {Op::sgn, numeric([](Quantity x) { return sign_of(x); })},
                {Op::nan_to_num, nan_to_num},
                {Op::nextafter, nextafter, half_neighbours},
                {Op::copysign_Tensor, reals([](Quantity a, Quantity b) { return copysign(a, b); })},
                {Op::copysign_Scalar, reals([](Quantity a, Quantity b) { return copysign(a, b); })},
                {Op::angle, real([](Quantity x) {
                   return select(is_nan(x), x, select(x < 0.0, x.like(kPi), x.like(0)));
                 })},
                {Op::deg2rad, real([](Quantity x) { return x * (kPi / 180); })},
                {Op::rad2deg, real([](Quantity x) { return x * (180 / kPi); })}});
}

}  // namespace

void add_arithmetic_formulas(FormulaTable& table) {
  const Formula product = numerics([](Quantity a, Quantity b) { return a * b; });
  const Formula floored = numerics([](Quantity a, Quantity b) { return floored_quotient(a, b); });
  const Formula modulo = numerics([](Quantity a, Quantity b) { return floor_rest(a, b); });
  const Formula remainder = numerics([](Quantity a, Quantity b) { return rest(a, b); });
  const Formula power = numerics([](Quantity a, Quantity b) { return pow(a, b); });
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
  table.push_back({Op::prims_add, numerics([](Quantity a, Quantity b) { return a + b; })});
  table.push_back({Op::prims_sub, numerics([](Quantity a, Quantity b) { return a - b; })});
  table.push_back({Op::prims_div, divide_prims});
  table.push_back({Op::prims_fma, fma});
  table.push_back({Op::addcmul, addcmul});
  table.push_back({Op::addcdiv, addcdiv});
  table.push_back({Op::square, numeric([](Quantity x) { return x * x; })});
  table.push_back({Op::pow_Tensor_Scalar, power_of_number});
  table.push_back({Op::ldexp_Tensor, reals([](Quantity x, Quantity e) { return x * exp2(e); })});
  add_rounding(table);
}

}  // namespace recut::loop

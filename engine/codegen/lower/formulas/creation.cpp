// Creation operators: constants, ranges, and random numbers.
#include <algorithm>
#include <cmath>

#include "engine/codegen/lower/formula.h"
#include "engine/support/philox.h"

namespace recut::loop {
namespace {

ScalarExpr filled(const ElementContext& ctx, const Scalar& scalar) {
  Builder* builder = &ctx.lowering.builder();
  if (scalar.category == DType::f64) return ScalarExpr::constant(builder, DType::f64, scalar.real);
  return ScalarExpr::constant(builder, DType::i64, scalar.integer);
}

ScalarExpr zeros(const ElementContext& ctx) { return filled(ctx, {DType::i64, 0, 0}); }
ScalarExpr ones(const ElementContext& ctx) { return filled(ctx, {DType::i64, 1, 1}); }
ScalarExpr full(const ElementContext& ctx) { return filled(ctx, ctx.call.scalar("fill_value")); }
ScalarExpr scalar_tensor(const ElementContext& ctx) { return filled(ctx, ctx.call.scalar("s")); }

ScalarExpr eye(const ElementContext& ctx) {
  const ScalarExpr row = ctx.lowering.number(ctx.at[0]);
  return row == ctx.lowering.number(ctx.at[1]);
}

ScalarExpr arange(const ElementContext& ctx) {
  const auto number_at = [&](std::string_view name, std::int64_t otherwise) {
    return ctx.call.op().parameter(name)
               ? ctx.call.scalar(name)
               : Scalar{DType::i64, static_cast<double>(otherwise), otherwise};
  };
  const Scalar start = number_at("start", 0);
  const Scalar step = number_at("step", 1);
  if (!is_floating(ctx.dtype()))
    return ctx.lowering.number(Index(start.integer) + step.integer * ctx.at[0]);
  const ScalarExpr i = ctx.lowering.number(ctx.at[0]).to(DType::f64);
  return start.real + step.real * i;
}

// A bound in the output's dtype, from a scalar or a zero-dimensional tensor.
ScalarExpr end_of_line(const ElementContext& ctx, std::string_view name) {
  const ScalarExpr end =
      ctx.call.is_tensor(name)
          ? ctx.raw(name, Indices(ctx.call.tensor(name).shape.size(), 0)).to(DType::f64)
          : ctx.lowering.constant(DType::f64, ctx.call.scalar(name).real);
  return is_floating(ctx.dtype()) ? ctx.lowering.rounded(end, ctx.dtype()).to(DType::f64)
                                  : trunc(end);
}

// Counted from the nearer bound, as ATen does, so that both bounds come out exactly.
ScalarExpr evenly_spaced(const ElementContext& ctx) {
  const std::int64_t steps = ctx.call.integer("steps");
  const ScalarExpr start = end_of_line(ctx, "start");
  if (steps == 1) return start;
  const ScalarExpr end = end_of_line(ctx, "end");
  const ScalarExpr step = (end - start) / static_cast<double>(steps - 1);
  const ScalarExpr i = ctx.lowering.number(ctx.at[0]).to(DType::f64);
  return select(i < static_cast<double>(steps / 2), start + step * i,
                end - step * (static_cast<double>(steps - 1) - i));
}

ScalarExpr logarithmically_spaced(const ElementContext& ctx) {
  const ScalarExpr exponent = evenly_spaced(ctx);
  return pow(exponent.like(ctx.call.real("base")), exponent);
}

ScalarExpr iota(const ElementContext& ctx) {
  return ctx.lowering.number(Index(ctx.call.integer("start")) +
                             ctx.call.integer("step") * ctx.at[0]);
}

// The element's row-major offset.
ScalarExpr element_number(const ElementContext& ctx) {
  return ctx.lowering.number(linearize(ctx.at, ctx.lowering.type(ctx.output).shape));
}

ScalarExpr bits_of_element(const ElementContext& ctx) {
  Builder* builder = &ctx.lowering.builder();
  const ScalarExpr seed{builder, builder->apply(ScalarOp::seed, {}, DType::i64)};
  const ScalarExpr draw = ScalarExpr::constant(builder, DType::i64, ctx.call.integer("draw"));
  return ScalarExpr::apply(ScalarOp::random_bits, {seed, draw, element_number(ctx)}, DType::i64);
}

// Uniform in [0, 1), with `digits` binary digits.
ScalarExpr uniform_number(const ElementContext& ctx, std::int64_t digits) {
  const ScalarExpr bits = bits_of_element(ctx);
  return ScalarExpr::apply(ScalarOp::uniform,
                           {bits, ScalarExpr::constant(bits.builder(), DType::i64, digits)},
                           DType::f64);
}

// The significand bits of a dtype: a uniform number with these is exact in it and below 1.
std::int64_t digits_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 11;
    case DType::bf16:
      return 8;
    case DType::f64:
      return 53;
    default:
      return 24;
  }
}

ScalarExpr normal_number(const ElementContext& ctx) {
  return ScalarExpr::apply(ScalarOp::normal, {bits_of_element(ctx)}, DType::f64);
}

ScalarExpr uniform(const ElementContext& ctx) {
  return uniform_number(ctx, digits_of(ctx.dtype()));
}

// A uniform integer in [low, high) of the call; `low` defaults to 0.
ScalarExpr random_integer(const ElementContext& ctx) {
  const std::int64_t low = ctx.call.op().parameter("low") ? ctx.call.integer("low") : 0;
  const ScalarExpr bits = bits_of_element(ctx);
  const auto whole = [&](std::int64_t n) {
    return ScalarExpr::constant(bits.builder(), DType::i64, n);
  };
  return whole(low) + ScalarExpr::apply(ScalarOp::below,
                                        {bits, whole(ctx.call.integer("high") - low)}, DType::i64);
}

std::optional<std::string> empty_range(const Call& call) {
  const std::int64_t low = call.op().parameter("low") ? call.integer("low") : 0;
  if (low < call.integer("high")) return std::nullopt;
  return "random integers from an empty range";
}

ScalarExpr bernoulli(const ElementContext& ctx) {
  const ScalarExpr p = ctx.call.op().parameter("p")
                           ? ctx.lowering.constant(DType::f64, ctx.call.real("p"))
                           : ctx.raw("self").to(DType::f64);
  return uniform_number(ctx, 53) < p;
}

ScalarExpr uniform_between(const ElementContext& ctx) {
  const double from = ctx.call.real("from");
  return from + (ctx.call.real("to") - from) * uniform_number(ctx, digits_of(ctx.dtype()));
}

ScalarExpr normal_about(const ElementContext& ctx) {
  const auto read = [&](std::string_view name) {
    return ctx.call.is_tensor(name) ? ctx.raw(name).to(DType::f64)
                                    : ctx.lowering.constant(DType::f64, ctx.call.real(name));
  };
  const ScalarExpr mean = read("mean");
  const ScalarExpr deviation = read("std");
  return mean + deviation * normal_number(ctx);
}

ScalarExpr exponential(const ElementContext& ctx) {
  return -log(1.0 - uniform_number(ctx, 53)) / ctx.call.real("lambd");
}

// The number of trials until the first success.
ScalarExpr geometric(const ElementContext& ctx) {
  const double failure = std::log1p(-ctx.call.real("p"));
  return larger(ceil(log(1.0 - uniform_number(ctx, 53)) / failure), 1.0);
}

std::optional<std::string> no_probability(const Call& call) {
  const double p = call.real("p");
  if (p > 0 && p < 1) return std::nullopt;
  return "a probability of success that is not in (0, 1)";
}

// RReLU: slopes below 0 are sampled in training, and otherwise their mean.
ScalarExpr rrelu(const ElementContext& ctx) {
  const double lower = ctx.call.scalar("lower").real, upper = ctx.call.scalar("upper").real;
  const bool train = ctx.call.boolean("training");
  if (ctx.output.output == 1 && !train) return ctx.raw("noise");
  const ScalarExpr x = ctx.raw("self").to(DType::f64);
  const ScalarExpr drawn =
      train ? lower + (upper - lower) * uniform_number(ctx, 24) : x.like((lower + upper) / 2);
  const ScalarExpr slope = select(x <= 0.0, drawn, x.like(1));
  return ctx.output.output == 1 ? slope : x * slope;
}

ScalarExpr cauchy(const ElementContext& ctx) {
  return ctx.call.real("median") +
         ctx.call.real("sigma") * tan(3.14159265358979323846 * (uniform_number(ctx, 53) - 0.5));
}

ScalarExpr log_normal(const ElementContext& ctx) {
  return exp(ctx.call.real("mean") + ctx.call.real("std") * normal_number(ctx));
}

ScalarExpr dropout(const ElementContext& ctx) {
  const bool train = !ctx.call.given("train") || ctx.call.boolean("train");
  const double p = train ? ctx.call.real("p") : 0;
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  const ScalarExpr kept = uniform_number(ctx, 53) >= p;
  if (ctx.output.output == 1) return kept;
  const ScalarExpr x = ctx.operand("input", ctx.dtype());
  return x * (kept.to(x.type()) * scale);
}

// Inductor's random operators: seeds are drawn once, and all numbers follow from their seed alone.
ScalarExpr lookup_seed(const ElementContext& ctx) {
  return ctx.raw("seeds", {ctx.call.integer("index")});
}

// The first two words (engine/support/philox.h). Inductor counts elements with 32 bits.
ScalarExpr bits_of_seed(const ElementContext& ctx) {
  Builder* builder = &ctx.lowering.builder();
  const ScalarExpr seed = ctx.raw("seed", Indices(ctx.call.tensor("seed").shape.size(), 0));
  const Shape& shape = ctx.lowering.type(ctx.output).shape;
  const std::int64_t offset = ctx.call.integer("offset");
  const ScalarExpr element = ctx.lowering.number(linearize(ctx.at, shape) + Index(offset));
  constexpr std::int64_t kNumbers = std::int64_t{1} << 32;
  const bool wraps = offset < 0 || offset > kNumbers - element_count(shape);
  const ScalarExpr zero = ScalarExpr::constant(builder, DType::i64, std::int64_t{0});
  return ScalarExpr::apply(ScalarOp::random_bits,
                           {seed, zero, wraps ? element & (kNumbers - 1) : element}, DType::i64);
}

// A word, as a signed number of 32 bits, to a uniform number of f32.
ScalarExpr inductor_uniform(const ScalarExpr& word) {
  const ScalarExpr magnitude = word ^ shift_right(word, 63);
  return magnitude.to(DType::f64).to(DType::f32) * kInductorScale;
}

ScalarExpr inductor_random(const ElementContext& ctx) {
  const ScalarExpr bits = bits_of_seed(ctx);
  const ScalarExpr first = inductor_uniform(shift_right(bits, 32));
  if (ctx.call.text("mode") == "rand") return first;
  const ScalarExpr second = inductor_uniform(shift_right(shift_left(bits, 32), 32));
  const auto rounded = [](const ScalarExpr& x) { return x.to(DType::f32); };
  const ScalarExpr logarithm = rounded(log(larger(first, kInductorLeast).to(DType::f64)));
  const ScalarExpr angle = second * kInductorTurn;
  return sqrt(logarithm * -2.0) * rounded(cos(angle.to(DType::f64)));
}

// The remainder of 64 unsigned bits, in signed arithmetic: twice the remainder of the upper 63,
// and the last. A bound beyond 63 bits is subtracted at most once.
ScalarExpr unsigned_remainder(const ScalarExpr& bits, std::uint64_t bound) {
  const auto whole = [&](std::uint64_t n) {
    return ScalarExpr::constant(bits.builder(), DType::i64, static_cast<std::int64_t>(n));
  };
  const ScalarExpr sign = whole(std::uint64_t{1} << 63);
  if (bound >> 63 != 0)
    return select((bits ^ sign) >= whole(bound ^ std::uint64_t{1} << 63), bits - whole(bound),
                  bits);
  const ScalarExpr half =
      rem(shift_right(bits, 1) & whole(~(std::uint64_t{1} << 63)), whole(bound));
  const ScalarExpr last = bits & whole(1);
  const ScalarExpr rest = whole(bound) - half;
  return select(half + last >= rest, half - rest + last, half + half + last);
}

ScalarExpr inductor_integer(const ElementContext& ctx) {
  const ScalarExpr bits = bits_of_seed(ctx);
  const ScalarExpr swapped = shift_left(bits, 32) | (shift_right(bits, 32) & 4294967295.0);
  const std::int64_t low = ctx.call.integer("low");
  const std::uint64_t range =
      static_cast<std::uint64_t>(ctx.call.integer("high")) - static_cast<std::uint64_t>(low);
  return ScalarExpr::constant(bits.builder(), DType::i64, low) + unsigned_remainder(swapped, range);
}

void add_random(FormulaTable& table) {
  for (const Op op : {Op::rand, Op::rand_like}) table.push_back({op, uniform});
  for (const Op op : {Op::randn, Op::randn_like}) table.push_back({op, normal_number});
  for (const Op op : {Op::randint, Op::randint_low, Op::randint_like, Op::randint_like_low_dtype})
    table.push_back({op, random_integer, empty_range});
  for (const Op op : {Op::bernoulli, Op::bernoulli_p}) table.push_back({op, bernoulli});
  for (const Op op : {Op::normal_functional, Op::normal_Tensor_float, Op::normal_float_Tensor,
                      Op::normal_Tensor_Tensor, Op::normal_float_float})
    table.push_back({op, normal_about});
  for (const Op op : {Op::prims_inductor_seeds, Op::prims_inductor_seed})
    table.push_back({op, bits_of_element});
  table.push_back({Op::prims_inductor_lookup_seed, lookup_seed});
  table.push_back({Op::prims_inductor_random, inductor_random});
  table.push_back({Op::uniform, uniform_between});
  table.push_back({Op::exponential, exponential});
  table.push_back({Op::geometric, geometric, no_probability});
  for (const Op op : {Op::rrelu_with_noise, Op::rrelu_with_noise_functional})
    table.push_back({op, rrelu});
  table.push_back({Op::prims_inductor_randint, inductor_integer, empty_range});
  table.push_back({Op::cauchy, cauchy});
  table.push_back({Op::log_normal, log_normal});
  table.push_back({Op::native_dropout, dropout});
}

}  // namespace

void add_creation_formulas(FormulaTable& table) {
  for (const Op op : {Op::empty_memory_format, Op::empty_strided, Op::empty_permuted, Op::zeros,
                      Op::_efficientzerotensor, Op::empty_like, Op::zeros_like, Op::new_empty,
                      Op::new_zeros, Op::new_empty_strided})
    table.push_back({op, zeros});
  for (const Op op : {Op::ones, Op::ones_like, Op::new_ones}) table.push_back({op, ones});
  for (const Op op : {Op::full, Op::full_like, Op::new_full}) table.push_back({op, full});
  table.push_back({Op::scalar_tensor, scalar_tensor});
  for (const Op op : {Op::eye, Op::eye_m}) table.push_back({op, eye});
  for (const Op op : {Op::arange, Op::arange_start, Op::arange_start_step})
    table.push_back({op, arange});
  for (const Op op : {Op::linspace, Op::linspace_Tensor_Tensor, Op::linspace_Tensor_Scalar,
                      Op::linspace_Scalar_Tensor})
    table.push_back({op, evenly_spaced});
  for (const Op op : {Op::logspace, Op::logspace_Tensor_Tensor, Op::logspace_Tensor_Scalar,
                      Op::logspace_Scalar_Tensor})
    table.push_back({op, logarithmically_spaced});
  table.push_back({Op::prims_iota, iota});
  add_random(table);
}

}  // namespace recut::loop

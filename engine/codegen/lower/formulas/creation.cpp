// Creation operators: constants, ranges, and random numbers.
#include <algorithm>
#include <cmath>

#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

Quantity filled(const Site& s, const Scalar& scalar) {
  Builder* builder = &s.lowering.builder();
  if (scalar.category == DType::f64) return Quantity::constant(builder, DType::f64, scalar.real);
  return Quantity::constant(builder, DType::i64, scalar.integer);
}

Quantity zeros(const Site& s) { return filled(s, {DType::i64, 0, 0}); }
Quantity ones(const Site& s) { return filled(s, {DType::i64, 1, 1}); }
Quantity full(const Site& s) { return filled(s, s.call.scalar("fill_value")); }
Quantity scalar_tensor(const Site& s) { return filled(s, s.call.scalar("s")); }

Quantity eye(const Site& s) {
  const Quantity row = s.lowering.number(s.at[0]);
  return row == s.lowering.number(s.at[1]);
}

Quantity arange(const Site& s) {
  const auto number_at = [&](std::string_view name, std::int64_t otherwise) {
    return s.call.op().parameter(name)
               ? s.call.scalar(name)
               : Scalar{DType::i64, static_cast<double>(otherwise), otherwise};
  };
  const Scalar start = number_at("start", 0);
  const Scalar step = number_at("step", 1);
  if (!is_floating(s.dtype()))
    return s.lowering.number(Index(start.integer) + step.integer * s.at[0]);
  const Quantity i = s.lowering.number(s.at[0]).to(DType::f64);
  return start.real + step.real * i;
}

// A bound in the output's dtype, from a scalar or a zero-dimensional tensor.
Quantity end_of_line(const Site& s, std::string_view name) {
  const Quantity end =
      s.call.is_tensor(name)
          ? s.raw(name, Indices(s.call.tensor(name).shape.size(), 0)).to(DType::f64)
          : s.lowering.constant(DType::f64, s.call.scalar(name).real);
  return is_floating(s.dtype()) ? s.lowering.rounded(end, s.dtype()).to(DType::f64) : trunc(end);
}

// Counted from the nearer bound, as ATen does, so that both bounds come out exactly.
Quantity evenly_spaced(const Site& s) {
  const std::int64_t steps = s.call.integer("steps");
  const Quantity start = end_of_line(s, "start");
  if (steps == 1) return start;
  const Quantity end = end_of_line(s, "end");
  const Quantity step = (end - start) / static_cast<double>(steps - 1);
  const Quantity i = s.lowering.number(s.at[0]).to(DType::f64);
  return select(i < static_cast<double>(steps / 2), start + step * i,
                end - step * (static_cast<double>(steps - 1) - i));
}

Quantity logarithmically_spaced(const Site& s) {
  const Quantity exponent = evenly_spaced(s);
  return pow(exponent.like(s.call.real("base")), exponent);
}

Quantity iota(const Site& s) {
  return s.lowering.number(Index(s.call.integer("start")) + s.call.integer("step") * s.at[0]);
}

// The element's row-major offset.
Quantity element_number(const Site& s) {
  return s.lowering.number(linearised(s.at, s.lowering.type(s.made).shape));
}

Quantity bits_of_site(const Site& s) {
  Builder* builder = &s.lowering.builder();
  const Quantity seed{builder, builder->apply(ScalarOp::seed, {}, DType::i64)};
  const Quantity draw = Quantity::constant(builder, DType::i64, s.call.integer("draw"));
  return Quantity::applied(ScalarOp::random_bits, {seed, draw, element_number(s)}, DType::i64);
}

// Uniform in [0, 1) with so many binary digits.
Quantity uniform_number(const Site& s, std::int64_t digits) {
  const Quantity bits = bits_of_site(s);
  return Quantity::applied(ScalarOp::uniform,
                           {bits, Quantity::constant(bits.builder(), DType::i64, digits)},
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

Quantity normal_number(const Site& s) {
  return Quantity::applied(ScalarOp::normal, {bits_of_site(s)}, DType::f64);
}

Quantity uniform(const Site& s) { return uniform_number(s, digits_of(s.dtype())); }

// A uniform integer in [low, high) of the call; `low` defaults to 0.
Quantity integer_in_range(const Site& s, const Quantity& bits) {
  const std::int64_t low = s.call.op().parameter("low") ? s.call.integer("low") : 0;
  const auto whole = [&](std::int64_t n) {
    return Quantity::constant(bits.builder(), DType::i64, n);
  };
  return whole(low) + Quantity::applied(ScalarOp::below,
                                        {bits, whole(s.call.integer("high") - low)}, DType::i64);
}

Quantity random_integer(const Site& s) { return integer_in_range(s, bits_of_site(s)); }

std::optional<std::string> empty_range(const Call& call) {
  const std::int64_t low = call.op().parameter("low") ? call.integer("low") : 0;
  if (low < call.integer("high")) return std::nullopt;
  return "random integers from an empty range";
}

Quantity bernoulli(const Site& s) {
  const Quantity p = s.call.op().parameter("p") ? s.lowering.constant(DType::f64, s.call.real("p"))
                                                : s.raw("self").to(DType::f64);
  return uniform_number(s, 53) < p;
}

Quantity uniform_between(const Site& s) {
  const double from = s.call.real("from");
  return from + (s.call.real("to") - from) * uniform_number(s, digits_of(s.dtype()));
}

Quantity normal_about(const Site& s) {
  const auto read = [&](std::string_view name) {
    return s.call.is_tensor(name) ? s.raw(name).to(DType::f64)
                                  : s.lowering.constant(DType::f64, s.call.real(name));
  };
  const Quantity mean = read("mean");
  const Quantity deviation = read("std");
  return mean + deviation * normal_number(s);
}

Quantity exponential(const Site& s) {
  return -log(1.0 - uniform_number(s, 53)) / s.call.real("lambd");
}

// The number of trials until the first success.
Quantity geometric(const Site& s) {
  const double failure = std::log1p(-s.call.real("p"));
  return larger(ceil(log(1.0 - uniform_number(s, 53)) / failure), 1.0);
}

std::optional<std::string> no_probability(const Call& call) {
  const double p = call.real("p");
  if (p > 0 && p < 1) return std::nullopt;
  return "a probability of success that is not in (0, 1)";
}

// RReLU: slopes below 0 are sampled in training, and otherwise their mean.
Quantity rrelu(const Site& s) {
  const double lower = s.call.scalar("lower").real, upper = s.call.scalar("upper").real;
  const bool train = s.call.boolean("training");
  if (s.made.output == 1 && !train) return s.raw("noise");
  const Quantity x = s.raw("self").to(DType::f64);
  const Quantity drawn =
      train ? lower + (upper - lower) * uniform_number(s, 24) : x.like((lower + upper) / 2);
  const Quantity slope = select(x <= 0.0, drawn, x.like(1));
  return s.made.output == 1 ? slope : x * slope;
}

Quantity cauchy(const Site& s) {
  return s.call.real("median") +
         s.call.real("sigma") * tan(3.14159265358979323846 * (uniform_number(s, 53) - 0.5));
}

Quantity log_normal(const Site& s) {
  return exp(s.call.real("mean") + s.call.real("std") * normal_number(s));
}

Quantity dropout(const Site& s) {
  const bool train = !s.call.given("train") || s.call.boolean("train");
  const double p = train ? s.call.real("p") : 0;
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  const Quantity kept = uniform_number(s, 53) >= p;
  if (s.made.output == 1) return kept;
  const Quantity x = s.operand("input", s.dtype());
  return x * (kept.to(x.type()) * scale);
}

// Inductor's random operators: seeds are drawn once, and all numbers follow from their seed alone.
Quantity lookup_seed(const Site& s) { return s.raw("seeds", {s.call.integer("index")}); }

Quantity bits_of_seed(const Site& s) {
  Builder* builder = &s.lowering.builder();
  const Quantity seed = s.raw("seed", Indices(s.call.tensor("seed").shape.size(), 0));
  const Index element =
      linearised(s.at, s.lowering.type(s.made).shape) + Index(s.call.integer("offset"));
  return Quantity::applied(
      ScalarOp::random_bits,
      {seed, Quantity::constant(builder, DType::i64, std::int64_t{0}), s.lowering.number(element)},
      DType::i64);
}

Quantity inductor_random(const Site& s) {
  const Quantity bits = bits_of_seed(s);
  if (s.call.text("mode") == "randn")
    return Quantity::applied(ScalarOp::normal, {bits}, DType::f64);
  return Quantity::applied(ScalarOp::uniform,
                           {bits, Quantity::constant(bits.builder(), DType::i64, std::int64_t{24})},
                           DType::f64);
}

Quantity inductor_integer(const Site& s) { return integer_in_range(s, bits_of_seed(s)); }

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
    table.push_back({op, bits_of_site});
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

// Random numbers: every value is a function of the step's seed, the number of the draw and the
// element's index (engine/support/philox.h). PyTorch draws other numbers from the same
// distributions.
#include "engine/eval/kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/eval/kernels/elementwise.h"
#include "engine/support/philox.h"

namespace recut {
namespace {

using namespace elementwise;

// The random bits of each element of one draw.
struct Draw {
  std::uint64_t seed;
  std::uint64_t number;
  RandomWords operator()(std::int64_t element) const {
    return random_words(seed, number, static_cast<std::uint64_t>(element));
  }
};

Draw draw_of(const KernelContext& c) {
  return {c.seed, static_cast<std::uint64_t>(c.call.integer("draw"))};
}

// Significant digits of a dtype, so that a uniform number is exact in it and below 1.
int digits(DType dtype) {
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

// Writes f(words, i) everywhere.
template <class T, class F>
Done generate(KernelContext& c, F f) {
  const Draw draw = draw_of(c);
  Dense<T> out(c.output_types[0].shape);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = f(draw(i), i);
  c.write(out);
  return Done{};
}

Result<Done> uniform(KernelContext& c) {
  const int precision = digits(c.output_types[0].dtype);
  return generate<double>(
      c, [=](const RandomWords& w, std::int64_t) { return random_uniform(w, precision); });
}

Result<Done> normal(KernelContext& c) {
  return generate<double>(c, [](const RandomWords& w, std::int64_t) { return random_normal(w); });
}

Result<std::uint64_t> range_of(std::int64_t low, std::int64_t high) {
  if (low >= high) return error("random integers are drawn from an empty range");
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

Result<Done> integers(KernelContext& c) {
  const std::int64_t low = c.call.op().parameter("low") ? c.call.integer("low") : 0;
  const auto range = range_of(low, c.call.integer("high"));
  if (!range) return range.diagnostics();
  return generate<std::int64_t>(c, [&](const RandomWords& w, std::int64_t) {
    return plus(low, static_cast<std::int64_t>(random_below(w, *range)));
  });
}

// The order that sorts random keys.
Result<Done> permutation(KernelContext& c) {
  const Draw draw = draw_of(c);
  Integers out(c.output_types[0].shape);
  std::vector<std::uint64_t> keys;
  for (std::int64_t i = 0; i < out.count(); ++i) keys.push_back(random_bits(draw(i)));
  std::iota(out.data.begin(), out.data.end(), std::int64_t{0});
  std::stable_sort(out.data.begin(), out.data.end(), [&](std::int64_t a, std::int64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  c.write(out);
  return Done{};
}

Result<Done> bernoulli(KernelContext& c) {
  const bool one_probability = c.call.op().parameter("p").has_value();
  const Reals p = one_probability ? Reals(Shape{}, c.call.real("p")) : c.reals("self");
  const auto good = [](double x) { return x >= 0 && x <= 1; };
  if (!std::all_of(p.data.begin(), p.data.end(), good))
    return error("a probability is not in [0, 1]");
  return generate<std::int64_t>(c, [&](const RandomWords& w, std::int64_t i) {
    return std::int64_t{random_uniform(w, 53) < p[one_probability ? 0 : i]};
  });
}

Result<Done> uniform_between(KernelContext& c) {
  const double from = c.call.real("from");
  const double width = c.call.real("to") - from;
  const int precision = digits(c.output_types[0].dtype);
  return generate<double>(c, [=](const RandomWords& w, std::int64_t) {
    return from + width * random_uniform(w, precision);
  });
}

// mean and std are numbers or tensors.
Result<Done> normal_about(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const auto read = [&](std::string_view name) {
    const bool tensor = c.call.is_tensor(name);
    return broadcast_to(tensor ? c.reals(name) : Reals(Shape{}, c.call.real(name)), shape);
  };
  const Reals mean = read("mean");
  const Reals deviation = read("std");
  return generate<double>(c, [&](const RandomWords& w, std::int64_t i) {
    return mean[i] + deviation[i] * random_normal(w);
  });
}

// In (0, 1], so that its logarithm is finite.
double above_zero(const RandomWords& w) { return 1 - random_uniform(w, 53); }

Result<Done> exponential(KernelContext& c) {
  const double rate = c.call.real("lambd");
  return generate<double>(
      c, [=](const RandomWords& w, std::int64_t) { return -std::log(above_zero(w)) / rate; });
}

Result<Done> geometric(KernelContext& c) {
  const double p = c.call.real("p");
  if (!(p > 0 && p < 1)) return error("the probability of success is not in (0, 1)");
  return generate<double>(c, [=](const RandomWords& w, std::int64_t) {
    return std::max(1.0, std::ceil(std::log(above_zero(w)) / std::log1p(-p)));
  });
}

Result<Done> cauchy(KernelContext& c) {
  const double median = c.call.real("median");
  const double sigma = c.call.real("sigma");
  return generate<double>(c, [=](const RandomWords& w, std::int64_t) {
    return median + sigma * std::tan(3.14159265358979323846 * (random_uniform(w, 53) - 0.5));
  });
}

Result<Done> log_normal(KernelContext& c) {
  const double mean = c.call.real("mean");
  const double deviation = c.call.real("std");
  return generate<double>(c, [=](const RandomWords& w, std::int64_t) {
    return std::exp(mean + deviation * random_normal(w));
  });
}

// One row of multinomial draws into `out`. Without replacement: the order of exponential arrival
// times with the weights as rates (Efraimidis and Spirakis 2006).
void draw_row(const Draw& draw, std::int64_t row, const double* weights, std::int64_t count,
              bool replacement, std::int64_t samples, std::int64_t* out) {
  if (!replacement) {
    std::vector<std::pair<double, std::int64_t>> arrivals;
    for (std::int64_t i = 0; i < count; ++i)
      arrivals.emplace_back(-std::log(above_zero(draw(row * count + i))) / weights[i], i);
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::int64_t s = 0; s < samples; ++s)
      out[s] = arrivals[static_cast<std::size_t>(s)].second;
    return;
  }
  std::vector<double> sums(static_cast<std::size_t>(count));
  std::partial_sum(weights, weights + count, sums.begin());
  for (std::int64_t s = 0; s < samples; ++s) {
    const double at = random_uniform(draw(row * samples + s), 53) * sums.back();
    const auto found = std::upper_bound(sums.begin(), sums.end(), at);
    out[s] = std::min<std::int64_t>(found - sums.begin(), count - 1);
  }
}

Result<Done> multinomial(KernelContext& c) {
  const Reals weights = c.reals("self");
  const std::int64_t count = weights.shape.back();
  Integers out(c.output_types[0].shape);
  const std::int64_t samples = out.shape.back();
  const bool replacement = c.call.boolean("replacement");
  for (std::int64_t row = 0; row * samples < out.count(); ++row) {
    const double* first = weights.data.data() + row * count;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += first[i] >= 0 ? first[i] : std::nan("");
    if (!(sum > 0 && std::isfinite(sum)))
      return error("weights have to be finite, not negative, and some above 0");
    draw_row(draw_of(c), row, first, count, replacement, samples, out.data.data() + row * samples);
  }
  c.write(out);
  return Done{};
}

Result<Done> dropout(KernelContext& c) {
  const bool train = !c.call.given("train") || c.call.boolean("train");
  const double p = train ? c.call.real("p") : 0;
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  const Draw draw = draw_of(c);
  Reals values = c.reals("input");
  Integers mask(values.shape);
  for (std::int64_t i = 0; i < values.count(); ++i) {
    mask[i] = random_uniform(draw(i), 53) >= p ? 1 : 0;
    values[i] *= static_cast<double>(mask[i]) * scale;
  }
  c.write(values, 0);
  c.write(mask, 1);
  return Done{};
}

// Slopes where x is not above 0; 1 elsewhere, as ATen leaves them in `noise`.
Result<Done> rrelu(KernelContext& c) {
  const bool train = c.call.boolean("training");
  const double lower = c.call.scalar("lower").real;
  const double upper = c.call.scalar("upper").real;
  const Draw draw = draw_of(c);
  Reals values = c.reals("self");
  Reals slopes(values.shape, 1);
  for (std::int64_t i = 0; i < values.count(); ++i) {
    if (!(values[i] <= 0)) continue;
    slopes[i] = train ? lower + (upper - lower) * random_uniform(draw(i), 24) : (lower + upper) / 2;
    values[i] *= slopes[i];
  }
  c.write(values, 0);
  if (c.output_types.size() > 1) c.write(train ? slopes : c.reals("noise"), 1);
  return Done{};
}

// Counts exponential arrivals for small means. For large ones it rounds a normal number, whose
// distribution is the same within rounding there.
double poisson_number(const Draw& draw, std::int64_t element, double mean) {
  if (!(mean < 1000))
    return std::max(0.0, std::round(mean + std::sqrt(mean) * random_normal(draw(element))));
  double time = 0;
  double count = -1;
  for (std::int64_t arrival = 0; time <= mean; ++arrival, ++count)
    time -= std::log(above_zero(
        random_words(draw.seed, draw.number ^ static_cast<std::uint64_t>(arrival + 1) << 32,
                     static_cast<std::uint64_t>(element))));
  return count;
}

Result<Done> poisson(KernelContext& c) {
  Reals means = c.reals("self");
  const Draw draw = draw_of(c);
  for (std::int64_t i = 0; i < means.count(); ++i) {
    if (!(means[i] >= 0 && std::isfinite(means[i])))
      return error("a mean has to be finite and not negative");
    means[i] = poisson_number(draw, i, means[i]);
  }
  c.write(means);
  return Done{};
}

// Inductor's form: seeds are drawn once, and all numbers follow from their seed alone.
Result<Done> seeds(KernelContext& c) {
  return generate<std::int64_t>(c, [](const RandomWords& w, std::int64_t) {
    return static_cast<std::int64_t>(random_bits(w));
  });
}

Result<Done> lookup_seed(KernelContext& c) {
  const Integers all = c.integers("seeds");
  c.write(Integers(Shape{}, all[c.call.integer("index")]));
  return Done{};
}

template <class T, class F>
Done generate_from_seed(KernelContext& c, F f) {
  const auto seed = static_cast<std::uint64_t>(c.integers("seed")[0]);
  const std::int64_t offset = c.call.integer("offset");
  Dense<T> out(c.output_types[0].shape);
  for (std::int64_t i = 0; i < out.count(); ++i)
    out[i] = f(inductor_words(seed, static_cast<std::uint64_t>(plus(offset, i))));
  c.write(out);
  return Done{};
}

Result<Done> inductor_random(KernelContext& c) {
  if (c.call.text("mode") == "randn")
    return generate_from_seed<double>(
        c, [](const RandomWords& w) -> double { return inductor_normal(w); });
  return generate_from_seed<double>(
      c, [](const RandomWords& w) -> double { return inductor_uniform(w[0]); });
}

Result<Done> inductor_randint(KernelContext& c) {
  const std::int64_t low = c.call.integer("low");
  const auto range = range_of(low, c.call.integer("high"));
  if (!range) return range.diagnostics();
  return generate_from_seed<std::int64_t>(c, [&](const RandomWords& w) {
    return plus(low, static_cast<std::int64_t>(inductor_below(w, *range)));
  });
}

}  // namespace

void add_random_kernels(KernelTable& table) {
  for (const Op op : {Op::rand, Op::rand_like}) table.add(op, uniform);
  for (const Op op : {Op::randn, Op::randn_like}) table.add(op, normal);
  for (const Op op : {Op::randint, Op::randint_low, Op::randint_like, Op::randint_like_low_dtype})
    table.add(op, integers);
  table.add(Op::randperm, permutation);
  for (const Op op : {Op::bernoulli, Op::bernoulli_p}) table.add(op, bernoulli);
  table.add(Op::uniform, uniform_between);
  for (const Op op : {Op::normal_functional, Op::normal_Tensor_float, Op::normal_float_Tensor,
                      Op::normal_Tensor_Tensor, Op::normal_float_float})
    table.add(op, normal_about);
  for (const Op op : {Op::rrelu_with_noise, Op::rrelu_with_noise_functional}) table.add(op, rrelu);
  table.add(Op::poisson, poisson);
  table.add(Op::exponential, exponential);
  table.add(Op::geometric, geometric);
  table.add(Op::cauchy, cauchy);
  table.add(Op::log_normal, log_normal);
  table.add(Op::multinomial, multinomial);
  table.add(Op::native_dropout, dropout);
  for (const Op op : {Op::prims_inductor_seeds, Op::prims_inductor_seed}) table.add(op, seeds);
  table.add(Op::prims_inductor_lookup_seed, lookup_seed);
  table.add(Op::prims_inductor_random, inductor_random);
  table.add(Op::prims_inductor_randint, inductor_randint);
}

}  // namespace recut

// Random sampling beyond one number an element: randperm, multinomial and poisson sort random keys,
// or sum random numbers up to a bound. The generator is eval's: Philox by the step's seed, the draw
// and the element (engine/support/philox.h).
#include <cmath>

#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {
namespace {

ScalarExpr bits_of_draw(const Nest& nest, const ScalarExpr& draw, const ScalarExpr& element) {
  Builder* builder = &nest.lowering.builder();
  const ScalarExpr seed{builder, builder->apply(ScalarOp::seed, {}, DType::i64)};
  return ScalarExpr::apply(ScalarOp::random_bits, {seed, draw, element}, DType::i64);
}

ScalarExpr draw_of(const Nest& nest) {
  return ScalarExpr::constant(&nest.lowering.builder(), DType::i64, nest.call.integer("draw"));
}

ScalarExpr bits_of(const Nest& nest, const Index& element) {
  return bits_of_draw(nest, draw_of(nest), nest.lowering.number(element));
}

// Uniform in [0, 1).
ScalarExpr uniform(const ScalarExpr& bits) {
  return ScalarExpr::apply(ScalarOp::uniform, {bits, bits.like(53)}, DType::f64);
}

// Exponential of mean 1.
ScalarExpr exponential(const ScalarExpr& bits) { return -log(1.0 - uniform(bits)); }

// The rank of key i among `count` keys; the sort is stable.
ScalarExpr rank_of(const Nest& nest, std::int64_t count, const Index& i,
                   const std::function<ScalarExpr(const Index&)>& key) {
  const ScalarExpr own{&nest.lowering.builder(), key(i).id()};
  const ScalarExpr zero = ScalarExpr::constant(own.builder(), DType::i64, std::int64_t{0});
  return reduce_range(nest.lowering, count, {"rank", Combine::add, zero, [&](const Indices& j) {
                                               const ScalarExpr other = key(j[0]);
                                               const ScalarExpr earlier =
                                                   nest.lowering.number(j[0]) <
                                                   nest.lowering.number(i);
                                               return (other < own) | ((other == own) & earlier);
                                             }});
}

// A permutation by sorting random keys, which compare as unsigned numbers.
void permutation(const Nest& nest) {
  const std::int64_t count = nest.type().shape[0];
  Builder& builder = nest.lowering.builder();
  const auto key = [&](const Index& i) {
    const ScalarExpr bits = bits_of(nest, i);
    return bits ^ ScalarExpr::constant(&builder, DType::i64, std::int64_t{INT64_MIN});
  };
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", count);
  const Index to = nest.checked(rank_of(nest, count, i, key), count, false);
  nest.lowering.write(nest.output(), {to}, nest.lowering.number(i));
  builder.close_to(depth);
}

// Multinomial: sampling from rows of weights
// ------------------------------------------

struct CategoricalWeights {
  const Nest& nest;
  Builder& builder;
  std::int64_t count, samples, rows;

  explicit CategoricalWeights(const Nest& n)
      : nest(n),
        builder(n.lowering.builder()),
        count(n.shape_of("self").back()),
        samples(n.type().shape.back()),
        rows(element_count(n.type().shape) / samples) {}

  ScalarExpr weight(const Index& row, const Index& k) const {
    return nest.raw("self", position(row, k)).to(DType::f64);
  }
  Indices position(const Index& row, const Index& k) const {
    return nest.type().shape.size() == 1 ? Indices{k} : Indices{row, k};
  }

  // The sum of a row of weights, serially. It is a run-time fault if nothing can be drawn from
  // them.
  ScalarExpr total(const Index& row) const {
    const AccumulatorId sum =
        builder.accumulator("total", Combine::add, builder.constant(DType::f64, 0.0), 1);
    const std::size_t depth = builder.depth();
    const ScalarExpr w = weight(row, builder.open_loop("k", count));
    builder.update(sum, select(w >= 0.0, w, w.like(std::nan(""))).id());
    builder.close_to(depth);
    const ScalarExpr total{&builder, builder.read(sum)};
    const ScalarExpr is_valid = (total > 0.0) & (total < HUGE_VAL);
    nest.checked((!is_valid).to(DType::i64), 1, false);
    return total;
  }
};

// With replacement, by inversion: the number of prefix sums that are at most a uniform number.
void sample_with_replacement(const CategoricalWeights& w) {
  const Nest& nest = w.nest;
  const Iteration work(nest);
  work.for_each_element([&](const Indices& at) {
    const Index row = at.size() == 1 ? Index(0) : at[0];
    const ScalarExpr sampled = uniform(bits_of(nest, linearize(at, nest.type().shape)));
    const ScalarExpr bound{&w.builder, (sampled * w.total(row)).id()};
    const Scratch sum = work.number("sum", work.real(0));
    const ScalarExpr zero = ScalarExpr::constant(&w.builder, DType::i64, std::int64_t{0});
    const AccumulatorId below = w.builder.accumulator("below", Combine::add, zero.id(), 1);
    const std::size_t depth = w.builder.depth();
    const Index k = w.builder.open_loop("k", w.count);
    sum.write(0, sum.read(0) + w.weight(row, k));
    w.builder.update(below, (sum.read(0) <= bound).to(DType::i64).id());
    w.builder.close_to(depth);
    const ScalarExpr found{&w.builder, w.builder.read(below)};
    nest.lowering.write(nest.output(), at, smaller(found, static_cast<double>(w.count - 1)));
  });
}

// Without replacement: the order of exponential arrival times with the weights as rates
// (Efraimidis and Spirakis 2006).
void sample_without_replacement(const CategoricalWeights& w) {
  const Nest& nest = w.nest;
  Builder& builder = w.builder;
  const std::size_t depth = builder.depth();
  const Index row = builder.open_loop("i", w.rows, Builder::Order::parallel);
  w.total(row);
  const Index k = builder.open_loop("j", w.count);
  const ScalarExpr rank = rank_of(nest, w.count, k, [&](const Index& of) {
    return exponential(bits_of(nest, w.count * row + of)) / w.weight(row, of);
  });
  builder.open_if((rank < static_cast<double>(w.samples)).id());
  const Index to = nest.checked(rank, w.samples, false);
  nest.lowering.write(nest.output(), w.position(row, to), nest.lowering.number(k));
  builder.close_to(depth);
}

void multinomial(const Nest& nest) {
  const CategoricalWeights w(nest);
  if (nest.call.boolean("replacement"))
    sample_with_replacement(w);
  else
    sample_without_replacement(w);
}

// Poisson
// -------

// The number of exponential arrivals within a time of `mean` (below 1000): more than this have a
// probability that f64 rounds to 0.
constexpr std::int64_t kMaxArrivals = 10000;

ScalarExpr arrivals(const Iteration& work, const ScalarExpr& mean, const ScalarExpr& element) {
  const Scratch time = work.number("time", work.real(0));
  const Scratch count = work.number("count", work.real(-1));
  work.each_while(
      kMaxArrivals, [&] { return time.read(0) <= mean; },
      [&](const Index& k) {
        const ScalarExpr arrival = work.nest.lowering.number(k + Index(1));
        const ScalarExpr draw = draw_of(work.nest) ^ shift_left(arrival, 32.0);
        time.write(0, time.read(0) + exponential(bits_of_draw(work.nest, draw, element)));
        count.write(0, count.read(0) + 1.0);
      });
  return count.read(0);
}

// Large means use a rounded normal number (ties away from zero), whose distribution is
// indistinguishable there.
void poisson(const Nest& nest) {
  const Iteration work(nest);
  work.for_each_element([&](const Indices& at) {
    const ScalarExpr mean{&work.builder, nest.raw("self", at).to(DType::f64).id()};
    const ScalarExpr is_valid = (mean >= 0.0) & (mean < HUGE_VAL);
    nest.checked((!is_valid).to(DType::i64), 1, false);
    const ScalarExpr element = nest.lowering.number(linearize(at, nest.type().shape));
    const ScalarExpr small = mean < 1000.0;
    work.when(small,
              [&] { nest.lowering.write(nest.output(), at, arrivals(work, mean, element)); });
    work.when(!small, [&] {
      const ScalarExpr bits = bits_of_draw(nest, draw_of(nest), element);
      const ScalarExpr normal = ScalarExpr::apply(ScalarOp::normal, {bits}, DType::f64);
      const ScalarExpr sampled = larger(mean + sqrt(mean) * normal, 0.0);
      const ScalarExpr whole = trunc(sampled);
      nest.lowering.write(nest.output(), at, whole + (sampled - whole >= 0.5).to(DType::f64));
    });
  });
}

}  // namespace

void add_random_sampling_nests(NestTable& table) {
  table.push_back({Op::randperm, permutation});
  table.push_back({Op::multinomial, multinomial});
  table.push_back({Op::poisson, poisson});
}

}  // namespace recut::loop

// Scans: prefix sums, products and extremes. Lines are parallel. Along a line the scan is serial
// and the output itself is the accumulator, so reals are rounded to its dtype at every step.
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {
namespace {

// Calls begin(first index) and then step(previous index, index) along each line.
void for_each_step(
    const Nest& nest, const std::function<void(const Indices&, const Indices&)>& step,
    const std::function<void(const Indices&)>& begin = [](const Indices&) {}) {
  const Shape& shape = nest.shape_of("self");
  const std::size_t dim = nest.dimension("dim", shape.size());
  if (shape.empty() || shape[dim] < 2) return;
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  Shape lines = shape;
  lines[dim] = 1;
  const Index line = builder.open_any_loop("i", element_count(lines), Builder::Order::parallel);
  Indices before = delinearize(line, lines, builder);
  begin(before);
  before[dim] = builder.open_loop("k", shape[dim] - 1);
  Indices here = before;
  here[dim] = before[dim] + Index(1);
  step(before, here);
  builder.close_to(depth);
}

void copy_self(const Nest& nest, std::size_t output) {
  const Layout whole = output_layout(nest.type(output));
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(output), at, nest.raw("self", at));
  });
}

void scan(const Nest& nest, Combine how) {
  copy_self(nest, 0);
  for_each_step(nest, [&](const Indices& before, const Indices& here) {
    nest.lowering.combine_into(nest.output(), here, how,
                               nest.lowering.stored(nest.output(), before));
  });
}

void cumsum(const Nest& nest) { scan(nest, Combine::add); }
void cumprod(const Nest& nest) { scan(nest, Combine::mul); }

// logcumsumexp: carried in f64, as errors would grow along the line. Equal infinities have no
// difference.
void logcumsumexp(const Nest& nest) {
  copy_self(nest, 0);
  Builder& builder = nest.lowering.builder();
  const BufferId so_far = builder.add_buffer({"so_far", DType::f64, 1, Access::scratch});
  const auto x = [&](const Indices& at) { return nest.raw("self", at).to(DType::f64); };
  for_each_step(
      nest,
      [&](const Indices&, const Indices& here) {
        const ScalarExpr total{&builder, builder.load(so_far, 0)};
        const ScalarExpr sum = larger(total, x(here)) + log1p(exp(-abs(total - x(here))));
        const ScalarExpr next = select(is_infinite(total) & (total == x(here)), total, sum);
        builder.store(so_far, 0, next.id());
        nest.lowering.write(nest.output(), here, next);
      },
      [&](const Indices& first) { builder.store(so_far, 0, x(first).id()); });
}

// cummax and cummin: the last of equal values wins. From the first NaN on, each NaN replaces the
// previous one.
template <bool largest>
void running_extreme(const Nest& nest) {
  Lowering& lowering = nest.lowering;
  const Shape& shape = nest.shape_of("self");
  const std::size_t dim = shape.empty() ? 0 : nest.dimension("dim", shape.size());
  if (nest.is_requested(0)) copy_self(nest, 0);
  if (nest.is_requested(1))
    lowering.for_each(shape, contiguous_strides(shape), [&](const Indices& at) {
      lowering.write(nest.output(1), at, lowering.number(0));
    });
  for_each_step(nest, [&](const Indices& before, const Indices& here) {
    Indices best = before;
    if (!nest.is_requested(0))
      best[dim] = nest.checked(lowering.stored(nest.output(1), before), shape[dim], false);
    const ScalarExpr most =
        nest.is_requested(0) ? lowering.stored(nest.output(0), before) : nest.raw("self", best);
    const ScalarExpr x = nest.raw("self", here);
    ScalarExpr takes_over = largest ? x >= most : x <= most;
    if (x.real()) takes_over = is_nan(x) | takes_over;
    if (nest.is_requested(0)) lowering.write(nest.output(0), here, select(takes_over, x, most));
    if (nest.is_requested(1))
      lowering.write(
          nest.output(1), here,
          select(takes_over, lowering.number(here[dim]), lowering.stored(nest.output(1), before)));
  });
}

// vander: powers, a row for each number. Every column is the previous one times the number, in f64.
void vander(const Nest& nest) {
  Builder& builder = nest.lowering.builder();
  const std::int64_t rows = nest.type().shape[0], columns = nest.type().shape[1];
  const std::size_t depth = builder.depth();
  const Index i = builder.open_any_loop("i", rows, Builder::Order::parallel);
  const Scratch power(builder, "power", DType::f64, 1);
  power.write(0, nest.lowering.constant(DType::f64, 1));
  const Index k = builder.open_loop("k", columns);
  const ScalarExpr so_far = power.read(0);
  nest.lowering.write(nest.output(),
                      {i, nest.call.boolean("increasing") ? k : Index(columns - 1) - k}, so_far);
  power.write(0, so_far * nest.raw("x", {i}).to(DType::f64));
  builder.close_to(depth);
}

std::optional<std::string> few_bits(const Call& call) {
  const DType dtype = call.maybe_dtype("dtype").value_or(call.tensor("self").dtype);
  if (is_floating(dtype) && item_bytes(dtype) == 2) return "reals of 16 bits";
  return std::nullopt;
}

}  // namespace

void add_scan_nests(NestTable& table) {
  table.push_back({Op::cumsum, cumsum, few_bits});
  table.push_back({Op::cumprod, cumprod, few_bits});
  table.push_back({Op::logcumsumexp, logcumsumexp});
  table.push_back({Op::vander, vander});
  table.push_back({Op::cummax, running_extreme<true>});
  table.push_back({Op::cummin, running_extreme<false>});
}

}  // namespace recut::loop

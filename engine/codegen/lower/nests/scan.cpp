// Prefix sums and products: each place of a line is what stands before it, combined with its own
// number. Lines are parallel; along a line the output itself carries what has come so far, so that
// reals are rounded to its dtype at every step.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

void scan(const Nest& nest, Combine how) {
  const Layout whole = storage_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.raw("self", at));
  });
  const std::size_t dim = nest.dimension("dim", whole.shape.size());
  if (whole.shape.empty() || whole.shape[dim] < 2) return;
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  Shape lines = whole.shape;
  lines[dim] = 1;
  const Index line = builder.open_loop("i", element_count(lines), Builder::Order::parallel);
  Indices before = delinearised(line, lines, builder);
  before[dim] = builder.open_loop("k", whole.shape[dim] - 1);
  Indices here = before;
  here[dim] = before[dim] + Index(1);
  nest.lowering.combine_into(nest.output(), here, how, nest.lowering.stored(nest.output(), before));
  builder.close_to(depth);
}

void cumsum(const Nest& nest) { scan(nest, Combine::add); }
void cumprod(const Nest& nest) { scan(nest, Combine::mul); }

std::optional<std::string> few_bits(const Call& call) {
  const DType dtype = call.maybe_dtype("dtype").value_or(call.tensor("self").dtype);
  if (is_floating(dtype) && item_bytes(dtype) == 2) return "reals of 16 bits";
  return std::nullopt;
}

}  // namespace

void add_scan_nests(NestTable& table) {
  table.push_back({Op::cumsum, cumsum, few_bits});
  table.push_back({Op::cumprod, cumprod, few_bits});
}

}  // namespace recut::loop

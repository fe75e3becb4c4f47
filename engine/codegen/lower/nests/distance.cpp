// Distances between rows, by the p-norm of their differences, which are rounded to the dtype as
// eval's are.
#include <cmath>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// One p-norm: what a difference adds to its accumulator, and what the sum becomes.
struct Norm {
  double p;

  Combine combine() const { return std::isinf(p) ? Combine::max : Combine::add; }
  Quantity term(const Quantity& difference) const {
    const Quantity x = abs(difference);
    if (p == 0) return (x != 0.0).to(x.type());
    if (p == 1 || std::isinf(p)) return x;
    return p == 2 ? x * x : pow(x, p);
  }
  Quantity finish(const Quantity& sum) const {
    if (p == 0 || p == 1 || std::isinf(p)) return sum;
    return p == 2 ? sqrt(sum) : pow(sum, 1 / p);
  }
};

using RowElement = std::function<Quantity(const Index&)>;

// Of two rows of so many elements.
Quantity distance(const Nest& nest, std::int64_t length, const RowElement& a, const RowElement& b) {
  const Norm norm{nest.call.real("p")};
  const DType dtype = nest.type().dtype;
  Builder& builder = nest.lowering.builder();
  const std::int64_t lanes = lanes_for_sum(length);
  const AccumulatorId sum = builder.accumulator(
      "distance", norm.combine(), nest.lowering.constant(nest.computing(dtype), 0).id(), lanes);
  const std::size_t depth = builder.depth();
  const Index k = builder.open_loop("k", length, Builder::Order::serial, lanes);
  const Quantity x = a(k);
  const Quantity difference = nest.lowering.rounded(x - b(k), dtype);
  builder.update(sum, norm.term(difference.to(x.type())).id());
  builder.close_to(depth);
  return norm.finish({&builder, builder.read(sum)});
}

// A row's place in an operand whose batch is broadcast.
Indices row_of(const Shape& shape, const Indices& at, const Index& row, const Index& k) {
  const std::size_t batch = shape.size() - 2;
  Indices place(shape.size(), 0);
  for (std::size_t d = 0; d < batch; ++d)
    if (shape[d] != 1) place[d] = at[at.size() - 2 - batch + d];
  place[batch] = row;
  place[batch + 1] = k;
  return place;
}

void cdist(const Nest& nest) {
  const Shape& x1 = nest.shape_of("x1");
  const Shape& x2 = nest.shape_of("x2");
  const Shape& shape = nest.type().shape;
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", element_count(shape), Builder::Order::parallel);
  const Indices at = delinearised(i, shape, builder);
  const Index row = at[at.size() - 2];
  const Quantity apart = distance(
      nest, x1.back(), [&](const Index& k) { return nest.real("x1", row_of(x1, at, row, k)); },
      [&](const Index& k) { return nest.real("x2", row_of(x2, at, at.back(), k)); });
  nest.lowering.write(nest.output(), at, apart);
  builder.close_to(depth);
}

}  // namespace

void add_distance_nests(NestTable& table) { table.push_back({Op::_cdist_forward, cdist}); }

}  // namespace recut::loop

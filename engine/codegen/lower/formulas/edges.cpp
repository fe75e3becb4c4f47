#include "engine/codegen/lower/formulas/edges.h"

namespace recut::loop {
namespace {

Quantity at_edge(const Quantity& place, Edge edge, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (edge == Edge::replicated) return smaller(larger(place, 0.0), last);
  const Quantity from_start = abs(place);
  return select(from_start > last, 2 * last - from_start, from_start);
}

}  // namespace

Indices shown_at_edges(Lowering& lowering, const Call& call, const Shape& shape, Edge edge,
                       const Indices& padded) {
  const auto pads = call.integers("padding");
  Indices at = padded;
  for (std::size_t n = 0; n < pads.size() / 2; ++n) {
    const std::size_t d = shape.size() - 1 - n;
    const Quantity place = lowering.number(padded[d] - Index(pads[2 * n]));
    at[d] = lowering.builder().check(at_edge(place, edge, shape[d]).id(), shape[d]);
  }
  return at;
}

}  // namespace recut::loop

#include "engine/codegen/lower/formulas/padding_modes.h"

namespace recut::loop {
namespace {

ScalarExpr source_coordinate(const ScalarExpr& position, PadMode mode, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (mode == PadMode::replicate) return smaller(larger(position, 0.0), last);
  const ScalarExpr from_start = abs(position);
  return select(from_start > last, 2 * last - from_start, from_start);
}

}  // namespace

Indices padded_source_index(Lowering& lowering, const Call& call, const Shape& shape, PadMode mode,
                            const Indices& padded) {
  const auto pads = call.integers("padding");
  Indices at = padded;
  for (std::size_t n = 0; n < pads.size() / 2; ++n) {
    const std::size_t d = shape.size() - 1 - n;
    const ScalarExpr position = lowering.number(padded[d] - Index(pads[2 * n]));
    at[d] = lowering.builder().check(source_coordinate(position, mode, shape[d]).id(), shape[d]);
  }
  return at;
}

}  // namespace recut::loop

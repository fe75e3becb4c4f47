#include "engine/codegen/lower/window_space.h"

namespace recut::loop {
namespace {

void require(std::optional<Quantity>& inside, const Quantity& condition) {
  inside = inside ? *inside & condition : condition;
}

}  // namespace

std::vector<std::int64_t> per_dimension(const Call& call, std::string_view parameter,
                                        std::size_t dims, std::int64_t filler) {
  if (!call.op().parameter(parameter)) return std::vector<std::int64_t>(dims, filler);
  std::vector<std::int64_t> given = call.integers(parameter);
  if (given.size() == 1) given.assign(dims, given[0]);
  return given;
}

Quantity Fallen::element(const Nest& nest, std::string_view parameter, const Indices& at) const {
  return nest.raw_where(parameter, at, inside);
}

Fallen on_plane(Lowering& lowering, const Sliding& s, const Indices& window, const Indices& offset,
                const Shape& plane) {
  Fallen out;
  const Ranges ranges(lowering.builder().kernel());
  for (std::size_t d = 0; d < s.dims(); ++d) {
    const Index at = lowering.builder().simple(s.stride[d] * window[d] - Index(s.padding[d]) +
                                               s.dilation[d] * offset[d]);
    out.place.push_back(at);
    const auto range = ranges.of(at);
    if (range && range->within(0, plane[d] - 1)) continue;
    const Quantity number = lowering.number(at);
    if (!range || range->least < 0) require(out.inside, number >= 0.0);
    if (!range || range->most >= plane[d])
      require(out.inside, number < static_cast<double>(plane[d]));
  }
  return out;
}

Fallen on_windows(Lowering& lowering, const Sliding& s, const Indices& place, const Indices& offset,
                  const Shape& windows) {
  Fallen out;
  for (std::size_t d = 0; d < s.dims(); ++d) {
    const Index reach = place[d] + Index(s.padding[d]) - s.dilation[d] * offset[d];
    const Index at = lowering.builder().quotient(reach, s.stride[d]);
    out.place.push_back(at);
    const Quantity number = lowering.number(at);
    require(out.inside, number >= 0.0);
    require(out.inside, number < static_cast<double>(windows[d]));
    const Index rest = lowering.builder().remainder(reach, s.stride[d]);
    if (!rest.is_constant() || rest.constant != 0)
      require(out.inside, lowering.number(rest) == 0.0);
  }
  return out;
}

}  // namespace recut::loop

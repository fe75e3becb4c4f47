#include "engine/codegen/lower/window_space.h"

namespace recut::loop {
namespace {

void require(std::optional<Quantity>& inside, const Quantity& condition) {
  inside = inside ? *inside & condition : condition;
}

}  // namespace

std::optional<Quantity> within(Lowering& lowering, const Indices& at, const Shape& shape) {
  std::optional<Quantity> inside;
  const Ranges ranges(lowering.builder().kernel());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto range = ranges.of(at[d]);
    if (range && range->within(0, shape[d] - 1)) continue;
    const Quantity number = lowering.number(at[d]);
    if (!range || range->least < 0) require(inside, number >= 0.0);
    if (!range || range->most >= shape[d]) require(inside, number < static_cast<double>(shape[d]));
  }
  return inside;
}

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
  for (std::size_t d = 0; d < s.dims(); ++d) {
    out.place.push_back(lowering.builder().simple(s.stride[d] * window[d] - Index(s.padding[d]) +
                                                  s.dilation[d] * offset[d]));
  }
  out.inside = within(lowering, out.place, plane);
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

Shape windows_around(const Sliding& s) {
  Shape count;
  for (std::size_t d = 0; d < s.dims(); ++d)
    count.push_back(((s.kernel[d] - 1) * s.dilation[d] + s.stride[d]) / s.stride[d]);
  return count;
}

Fallen window_around(Lowering& lowering, const Sliding& s, const Indices& place,
                     const Indices& number, const Shape& windows) {
  Fallen out;
  const Shape count = windows_around(s);
  for (std::size_t d = 0; d < s.dims(); ++d) {
    const Index last = lowering.builder().quotient(place[d] + Index(s.padding[d]), s.stride[d]);
    out.place.push_back(lowering.builder().simple(last + number[d] - Index(count[d] - 1)));
  }
  out.inside = within(lowering, out.place, windows);
  return out;
}

}  // namespace recut::loop

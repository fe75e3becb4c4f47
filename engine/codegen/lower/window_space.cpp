#include "engine/codegen/lower/window_space.h"

#include <algorithm>
#include <cstdlib>

namespace recut::loop {
namespace {

// The condition least <= index < end.
struct Bounded {
  Index index;
  std::int64_t least, end;
};

// The same condition on the dividend: least <= div(i, n) + c < end becomes n*(least - c) <= i <
// n*(end - c). Not for a divisor that is a multiple of the lanes: there all lanes share one
// quotient, and test it once.
Bounded undivided(Bounded b) {
  constexpr std::int64_t kExact = std::int64_t{1} << 52;  // of products, as f64
  while (b.index.terms.size() == 1 && b.index.terms.front().factor == 1 &&
         b.index.terms.front().atom.kind == AtomKind::quotient) {
    const Atom& atom = b.index.terms.front().atom;
    const std::int64_t least = b.least - b.index.constant, end = b.end - b.index.constant;
    if (atom.by % kLanes == 0) break;
    if (atom.by > kExact / std::max({std::abs(least), std::abs(end), std::int64_t{1}})) break;
    b = {Index(*atom.of), atom.by * least, atom.by * end};
  }
  return b;
}

}  // namespace

void require_within(Lowering& lowering, std::optional<Quantity>& inside, const Index& at,
                    std::int64_t extent) {
  const Bounded asked = undivided({at, 0, extent});
  const auto range = Ranges(lowering.builder().kernel()).of(asked.index);
  if (range && range->within(asked.least, asked.end - 1)) return;
  const Quantity number = lowering.number(asked.index);
  if (!range || range->least < asked.least)
    require(inside, number >= static_cast<double>(asked.least));
  if (!range || range->most >= asked.end) require(inside, number < static_cast<double>(asked.end));
}

std::optional<Quantity> within(Lowering& lowering, const Indices& at, const Shape& shape) {
  std::optional<Quantity> inside;
  for (std::size_t d = 0; d < shape.size(); ++d) require_within(lowering, inside, at[d], shape[d]);
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
    require_within(lowering, out.inside, at, windows[d]);
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

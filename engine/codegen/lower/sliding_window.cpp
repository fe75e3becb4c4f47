#include "engine/codegen/lower/sliding_window.h"

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
Bounded without_division(Bounded b) {
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

void require_in_bounds(Lowering& lowering, std::optional<ScalarExpr>& inside, const Index& at,
                       std::int64_t extent) {
  const Bounded asked = without_division({at, 0, extent});
  const auto range = Ranges(lowering.builder().kernel()).of(asked.index);
  if (range && range->within(asked.least, asked.end - 1)) return;
  const ScalarExpr number = lowering.number(asked.index);
  if (!range || range->min < asked.least)
    require(inside, number >= static_cast<double>(asked.least));
  if (!range || range->max >= asked.end) require(inside, number < static_cast<double>(asked.end));
}

std::optional<ScalarExpr> in_bounds(Lowering& lowering, const Indices& at, const Shape& shape) {
  std::optional<ScalarExpr> inside;
  for (std::size_t d = 0; d < shape.size(); ++d)
    require_in_bounds(lowering, inside, at[d], shape[d]);
  return inside;
}

std::vector<std::int64_t> per_dimension(const Call& call, std::string_view parameter,
                                        std::size_t dims, std::int64_t filler) {
  if (!call.op().parameter(parameter)) return std::vector<std::int64_t>(dims, filler);
  std::vector<std::int64_t> given = call.integers(parameter);
  if (given.size() == 1) given.assign(dims, given[0]);
  return given;
}

ScalarExpr GuardedPosition::element(const Nest& nest, std::string_view parameter,
                                    const Indices& at) const {
  return nest.raw_where(parameter, at, inside);
}

GuardedPosition plane_position(Lowering& lowering, const WindowConfig& s, const Indices& window,
                               const Indices& offset, const Shape& plane) {
  GuardedPosition out;
  for (std::size_t d = 0; d < s.dims(); ++d) {
    out.position.push_back(lowering.builder().simple(s.stride[d] * window[d] - Index(s.padding[d]) +
                                                     s.dilation[d] * offset[d]));
  }
  out.inside = in_bounds(lowering, out.position, plane);
  return out;
}

GuardedPosition window_position(Lowering& lowering, const WindowConfig& s, const Indices& position,
                                const Indices& offset, const Shape& windows) {
  GuardedPosition out;
  for (std::size_t d = 0; d < s.dims(); ++d) {
    const Index reach = position[d] + Index(s.padding[d]) - s.dilation[d] * offset[d];
    const Index at = lowering.builder().quotient(reach, s.stride[d]);
    out.position.push_back(at);
    require_in_bounds(lowering, out.inside, at, windows[d]);
    const Index rest = lowering.builder().remainder(reach, s.stride[d]);
    if (!rest.is_constant() || rest.constant != 0)
      require(out.inside, lowering.number(rest) == 0.0);
  }
  return out;
}

Shape overlapping_window_counts(const WindowConfig& s) {
  Shape count;
  for (std::size_t d = 0; d < s.dims(); ++d)
    count.push_back(((s.kernel[d] - 1) * s.dilation[d] + s.stride[d]) / s.stride[d]);
  return count;
}

GuardedPosition overlapping_window(Lowering& lowering, const WindowConfig& s,
                                   const Indices& position, const Indices& number,
                                   const Shape& windows) {
  GuardedPosition out;
  const Shape count = overlapping_window_counts(s);
  for (std::size_t d = 0; d < s.dims(); ++d) {
    const Index last = lowering.builder().quotient(position[d] + Index(s.padding[d]), s.stride[d]);
    out.position.push_back(lowering.builder().simple(last + number[d] - Index(count[d] - 1)));
  }
  out.inside = in_bounds(lowering, out.position, windows);
  return out;
}

}  // namespace recut::loop

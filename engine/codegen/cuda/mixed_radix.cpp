#include "engine/codegen/cuda/mixed_radix.h"

#include <algorithm>
#include <set>

namespace recut::cuda {
namespace {

using loop::Atom;
using loop::AtomKind;
using loop::LoopId;

// (variable div below) mod (above / below); above 0: there is no mod.
struct DigitRange {
  LoopId variable;
  std::int64_t below = 1, above = 0;
};

std::optional<DigitRange> digit_range(const Atom& atom) {
  constexpr std::int64_t kMaxDivisor = std::int64_t{1} << 40;
  if (atom.kind == AtomKind::loop) return DigitRange{LoopId(atom.id)};
  if (atom.of == nullptr || atom.of->constant != 0 || atom.of->terms.size() != 1 ||
      atom.of->terms.front().factor != 1 || atom.by > kMaxDivisor)
    return std::nullopt;
  std::optional<DigitRange> range = digit_range(atom.of->terms.front().atom);
  if (!range || atom.by > kMaxDivisor / range->below) return std::nullopt;
  const std::int64_t at = range->below * atom.by;
  if (range->above != 0 && range->above % at != 0) return std::nullopt;
  (atom.kind == AtomKind::quotient ? range->below : range->above) = at;
  return range;
}

// The weights at which a loop's digits begin, and the loop's extent.
std::vector<std::int64_t> digit_bounds(LoopId loop, std::int64_t extent,
                                       const std::vector<loop::Index>& indices) {
  std::set<std::int64_t> bounds{1};
  for (const loop::Index& index : indices)
    for_each_atom(index, [&](const Atom& atom) {
      const auto range = digit_range(atom);
      if (!range || range->variable != loop) return;
      for (const std::int64_t bound : {range->below, range->above})
        if (bound > 0 && bound < extent) bounds.insert(bound);
    });
  std::vector<std::int64_t> all(bounds.begin(), bounds.end());
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i + 1] % all[i] != 0) return {1, extent};
  all.push_back(extent);
  return all;
}

}  // namespace

MixedRadixIndex::MixedRadixIndex(const loop::Kernel& kernel, const std::vector<LoopId>& loops,
                                 const std::vector<loop::Index>& indices) {
  for (const LoopId loop : loops) {
    const std::int64_t extent = kernel[loop].extent;
    const std::vector<std::int64_t> bounds = digit_bounds(loop, extent, indices);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
      all_.push_back({loop, bounds[i], (bounds[i + 1] - 1) / bounds[i] + 1});
  }
}

std::optional<std::vector<std::int64_t>> MixedRadixIndex::factors(const Atom& atom) const {
  const auto range = digit_range(atom);
  if (!range) return std::nullopt;
  std::vector<std::int64_t> factors(all_.size(), 0);
  std::int64_t end = 1;  // of the variable's numbers
  bool below = false, above = range->above == 0, known = false;
  for (std::size_t d = 0; d < all_.size(); ++d) {
    const RadixDigit& digit = all_[d];
    if (digit.variable != range->variable) continue;
    known = true;
    below |= digit.below == range->below;
    above |= digit.below == range->above;
    end = digit.below * digit.extent;
    if (digit.below >= range->below && (range->above == 0 || digit.below < range->above))
      factors[d] = digit.below / range->below;
  }
  // A bound at or beyond the extent cuts off nothing, or everything.
  below |= range->below >= end;
  above |= range->above >= end;
  if (!known || !below || !above) return std::nullopt;
  return factors;
}

}  // namespace recut::cuda

#include "engine/codegen/cuda/digits.h"

#include <algorithm>
#include <set>

namespace recut::cuda {
namespace {

using loop::Atom;
using loop::AtomKind;
using loop::LoopId;

// (variable div below) mod (above / below); above 0: there is no mod.
struct Part {
  LoopId variable;
  std::int64_t below = 1, above = 0;
};

std::optional<Part> part_of(const Atom& atom) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (atom.kind == AtomKind::loop) return Part{LoopId(atom.id)};
  if (atom.of == nullptr || atom.of->constant != 0 || atom.of->terms.size() != 1 ||
      atom.of->terms.front().factor != 1 || atom.by > kMost)
    return std::nullopt;
  std::optional<Part> part = part_of(atom.of->terms.front().atom);
  if (!part || atom.by > kMost / part->below) return std::nullopt;
  const std::int64_t at = part->below * atom.by;
  if (part->above != 0 && part->above % at != 0) return std::nullopt;
  (atom.kind == AtomKind::quotient ? part->below : part->above) = at;
  return part;
}

// The weights at which a loop's digits begin, and the loop's extent.
std::vector<std::int64_t> borders_of(LoopId loop, std::int64_t extent,
                                     const std::vector<loop::Index>& indices) {
  std::set<std::int64_t> borders{1};
  for (const loop::Index& index : indices)
    for_each_atom(index, [&](const Atom& atom) {
      const auto part = part_of(atom);
      if (!part || part->variable != loop) return;
      for (const std::int64_t border : {part->below, part->above})
        if (border > 0 && border < extent) borders.insert(border);
    });
  std::vector<std::int64_t> all(borders.begin(), borders.end());
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i + 1] % all[i] != 0) return {1, extent};
  all.push_back(extent);
  return all;
}

}  // namespace

Digits::Digits(const loop::Kernel& kernel, const std::vector<LoopId>& loops,
               const std::vector<loop::Index>& indices) {
  for (const LoopId loop : loops) {
    const std::int64_t extent = kernel[loop].extent;
    const std::vector<std::int64_t> borders = borders_of(loop, extent, indices);
    for (std::size_t i = 0; i + 1 < borders.size(); ++i)
      all_.push_back({loop, borders[i], (borders[i + 1] - 1) / borders[i] + 1});
  }
}

std::optional<std::vector<std::int64_t>> Digits::factors(const Atom& atom) const {
  const auto part = part_of(atom);
  if (!part) return std::nullopt;
  std::vector<std::int64_t> factors(all_.size(), 0);
  std::int64_t end = 1;  // of the variable's numbers
  bool below = false, above = part->above == 0, known = false;
  for (std::size_t d = 0; d < all_.size(); ++d) {
    const Digit& digit = all_[d];
    if (digit.variable != part->variable) continue;
    known = true;
    below |= digit.below == part->below;
    above |= digit.below == part->above;
    end = digit.below * digit.extent;
    if (digit.below >= part->below && (part->above == 0 || digit.below < part->above))
      factors[d] = digit.below / part->below;
  }
  // A bound at or beyond the extent cuts off nothing, or everything.
  below |= part->below >= end;
  above |= part->above >= end;
  if (!known || !below || !above) return std::nullopt;
  return factors;
}

}  // namespace recut::cuda

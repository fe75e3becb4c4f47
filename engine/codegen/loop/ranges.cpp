#include "engine/codegen/loop/ranges.h"

#include <utility>

namespace recut::loop {
namespace {

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace

Ranges::Ranges(const Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.loops.size(); ++i) set(LoopId(i), kernel.loops[i].extent);
}

void Ranges::set(Known& known, std::uint32_t index, Interval interval) {
  if (index >= known.size()) known.resize(index + 1);
  known[index] = interval;
}

std::optional<Interval> Ranges::of(const Atom& atom) const {
  if (atom.of == nullptr) {
    const Known& known = atom.kind == AtomKind::loop ? loops_ : values_;
    return atom.id < known.size() ? known[atom.id] : std::nullopt;
  }
  const std::optional<Interval> inside = of(*atom.of);
  const Interval any{0, atom.by - 1};
  if (!inside) return atom.kind == AtomKind::remainder ? std::optional(any) : std::nullopt;
  const std::int64_t first = floor_quotient(inside->min, atom.by);
  const std::int64_t last = floor_quotient(inside->max, atom.by);
  if (atom.kind == AtomKind::quotient) return Interval{first, last};
  if (first != last) return any;
  return Interval{floor_remainder(inside->min, atom.by), floor_remainder(inside->max, atom.by)};
}

std::optional<Interval> Ranges::of(const Index& index) const {
  Interval total{index.constant, index.constant};
  for (const Term& term : index.terms) {
    const std::optional<Interval> atom = of(term.atom);
    if (!atom) return std::nullopt;
    auto low = product(term.factor, atom->min);
    auto high = product(term.factor, atom->max);
    if (term.factor < 0) std::swap(low, high);
    if (!low || !high) return std::nullopt;
    low = sum(total.min, *low);
    high = sum(total.max, *high);
    if (!low || !high) return std::nullopt;
    total = {*low, *high};
  }
  return total;
}

}  // namespace recut::loop

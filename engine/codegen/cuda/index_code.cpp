#include "engine/codegen/cuda/index_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace recut::cuda {
namespace {

constexpr std::int64_t kMaxInt = (std::int64_t{1} << 31) - 1;

// True if all intermediate sums and products fit in an int, in any order.
bool fits_int(const loop::Index& index, const loop::Ranges& ranges) {
  double size = std::abs(static_cast<double>(index.constant));
  for (const loop::Term& term : index.terms) {
    if (term.atom.of != nullptr && !fits_int(*term.atom.of, ranges)) return false;
    if (term.atom.by > kMaxInt) return false;
    const auto range = ranges.of(loop::Index(term.atom));
    if (!range) return false;
    const auto least = static_cast<double>(range->min), most = static_cast<double>(range->max);
    size += std::abs(static_cast<double>(term.factor)) * std::max(std::abs(least), std::abs(most));
  }
  return size <= static_cast<double>(kMaxInt);
}

class IndexText {
 public:
  IndexText(const loop::Ranges& ranges, const AtomText& text, Helpers& helpers, bool wide)
      : ranges_(ranges), text_(text), helpers_(helpers), wide_(wide) {}

  std::string of(const loop::Index& index) const {
    std::string sum;
    for (const loop::Term& term : index.terms) {
      const std::string one = atom(term.atom);
      const std::int64_t size = term.factor < 0 ? -term.factor : term.factor;
      const char* sign = term.factor < 0 ? (sum.empty() ? "-" : " - ") : (sum.empty() ? "" : " + ");
      sum += sign + (size == 1 ? one : fmt::format("{} * {}", number(size), one));
    }
    if (sum.empty()) return number(index.constant);
    if (index.constant > 0) sum += " + " + number(index.constant);
    if (index.constant < 0) sum += " - " + number(-index.constant);
    return sum;
  }

 private:
  std::string number(std::int64_t n) const { return fmt::format("{}{}", n, wide_ ? "LL" : ""); }

  std::string atom(const loop::Atom& atom) const {
    if (atom.of != nullptr) return quotient(atom);
    // Loop variables are mostly int, values long long.
    if (atom.kind == loop::AtomKind::loop)
      return wide_ ? fmt::format("(long long){}", text_(atom)) : text_(atom);
    return wide_ ? text_(atom) : fmt::format("int({})", text_(atom));
  }

  // Unsigned division is cheaper, for dividends that are never negative.
  std::string quotient(const loop::Atom& atom) const {
    const bool rest = atom.kind == loop::AtomKind::remainder;
    const std::string of = this->of(*atom.of);
    const auto range = ranges_.of(*atom.of);
    if (range && range->min >= 0)
      return wide_ ? fmt::format("(long long)((unsigned long long)({}) {} {}ull)", of,
                                 rest ? '%' : '/', atom.by)
                   : fmt::format("int(unsigned({}) {} {})", of, rest ? '%' : '/', atom.by);
    return fmt::format("{}({}, {})", helpers_.use(rest ? "floor_remainder" : "floor_quotient"), of,
                       number(atom.by));
  }

  const loop::Ranges& ranges_;
  const AtomText& text_;
  Helpers& helpers_;
  bool wide_;
};

}  // namespace

std::string int_type_name(std::int64_t most) { return most <= kMaxInt ? "int" : "long long"; }

std::string index_code(const loop::Index& index, const loop::Ranges& ranges, const AtomText& text,
                       Helpers& helpers) {
  return IndexText(ranges, text, helpers, !fits_int(index, ranges)).of(index);
}

}  // namespace recut::cuda

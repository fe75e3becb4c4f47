// Canonicalization of affine expressions with floordiv and mod, as MLIR has it for AffineExpr.
// Bottom up: the inner index first, then the first rule of the table that matches, then the result
// again. Each rule leaves fewer atoms, or smaller divisors and factors, so this ends. Guards are
// intervals (ranges.h): a rule fires only where it holds for every iteration. Each rule is tested
// by itself, over all small values.
#include "engine/codegen/loop/simplify.h"

#include <array>
#include <numeric>

namespace recut::loop {
namespace {

// A sum as by*whole + rest: rest has the terms whose factor isn't a multiple of `by`, and a
// constant in 0 ... by - 1.
struct Split {
  Index whole, rest;
};

Split split(const Index& of, std::int64_t by) {
  Split out{floor_quotient(of.constant, by), floor_remainder(of.constant, by)};
  for (const Term& term : of.terms) {
    const bool multiple = term.factor % by == 0;
    (multiple ? out.whole : out.rest)
        .terms.push_back({multiple ? term.factor / by : term.factor, term.atom});
  }
  return out;
}

// The atom that the index consists of; null if there is more.
const Atom* single_atom(const Index& index, AtomKind kind) {
  const bool single =
      index.constant == 0 && index.terms.size() == 1 && index.terms.front().factor == 1;
  return single && index.terms.front().atom.kind == kind ? &index.terms.front().atom : nullptr;
}

std::optional<Index> quotient_of_multiples(const Index& of, std::int64_t by, const Ranges&) {
  const Split parts = split(of, by);
  if (parts.whole == Index(0)) return std::nullopt;
  return parts.whole + quotient(parts.rest, by);
}

// floor(index / by), if that is the same for all values of the index.
std::optional<std::int64_t> common_multiple(const Index& of, std::int64_t by,
                                            const Ranges& ranges) {
  const std::optional<Interval> range = ranges.of(of);
  if (!range || range->min > range->max) return std::nullopt;
  const std::int64_t first = floor_quotient(range->min, by);
  return first == floor_quotient(range->max, by) ? std::optional(first) : std::nullopt;
}

std::optional<Index> quotient_in_one_multiple(const Index& of, std::int64_t by,
                                              const Ranges& ranges) {
  const auto multiple = common_multiple(of, by, ranges);
  return multiple ? std::optional(Index(*multiple)) : std::nullopt;
}

// Splits by the largest g > 1 that divides `by` and such that the terms that g doesn't divide sum
// to 0 ... g - 1.
std::optional<Split> split_by_common_factor(const Index& of, std::int64_t by, const Ranges& ranges,
                                            std::int64_t& g) {
  std::optional<Split> best;
  for (const Term& term : of.terms) {
    const std::int64_t candidate = std::gcd(by, term.factor);
    if (candidate <= 1 || candidate == by || (best && candidate <= g)) continue;
    Split parts = split(of, candidate);
    const std::optional<Interval> rest = ranges.of(parts.rest);
    if (!rest || !rest->within(0, candidate - 1)) continue;
    g = candidate;
    best = std::move(parts);
  }
  return best;
}

std::optional<Index> quotient_by_common_factor(const Index& of, std::int64_t by,
                                               const Ranges& ranges) {
  std::int64_t g = 1;
  const auto parts = split_by_common_factor(of, by, ranges, g);
  if (!parts) return std::nullopt;
  return quotient(parts->whole, by / g);
}

std::optional<Index> quotient_of_quotient(const Index& of, std::int64_t by, const Ranges&) {
  const Atom* inner = single_atom(of, AtomKind::quotient);
  std::int64_t product = 0;
  if (inner == nullptr || __builtin_mul_overflow(inner->by, by, &product)) return std::nullopt;
  return quotient(*inner->of, product);
}

std::optional<Index> quotient_of_remainder(const Index& of, std::int64_t by, const Ranges&) {
  const Atom* inner = single_atom(of, AtomKind::remainder);
  if (inner == nullptr || by == 1 || inner->by % by != 0) return std::nullopt;
  return remainder(quotient(*inner->of, by), inner->by / by);
}

std::optional<Index> remainder_of_multiples(const Index& of, std::int64_t by, const Ranges&) {
  const Split parts = split(of, by);
  if (parts.whole == Index(0)) return std::nullopt;
  return remainder(parts.rest, by);
}

std::optional<Index> remainder_in_one_multiple(const Index& of, std::int64_t by,
                                               const Ranges& ranges) {
  const auto multiple = common_multiple(of, by, ranges);
  return multiple ? std::optional(of - Index(*multiple * by)) : std::nullopt;
}

std::optional<Index> remainder_by_common_factor(const Index& of, std::int64_t by,
                                                const Ranges& ranges) {
  std::int64_t g = 1;
  const auto parts = split_by_common_factor(of, by, ranges, g);
  if (!parts) return std::nullopt;
  return g * remainder(parts->whole, by / g) + parts->rest;
}

std::optional<Index> remainder_of_remainder(const Index& of, std::int64_t by, const Ranges&) {
  for (const Term& term : of.terms) {
    std::int64_t step = 0;
    if (term.atom.kind != AtomKind::remainder ||
        __builtin_mul_overflow(term.factor, term.atom.by, &step) || step % by != 0)
      continue;
    return remainder(of - term.factor * Index(term.atom) + term.factor * *term.atom.of, by);
  }
  return std::nullopt;
}

std::optional<Index> recombine_quotient(const Index& of, std::int64_t, const Ranges& ranges) {
  for (const Term& low : of.terms) {
    std::int64_t factor = 0;
    if (low.atom.kind != AtomKind::remainder ||
        __builtin_mul_overflow(low.factor, low.atom.by, &factor))
      continue;
    const Index above = divide(*low.atom.of, low.atom.by, ranges);
    if (above.constant != 0 || above.terms.size() != 1 || above.terms.front().factor != 1) continue;
    for (const Term& high : of.terms)
      if (high.factor == factor && compare(high.atom, above.terms.front().atom) == 0)
        return of - low.factor * Index(low.atom) - factor * above + low.factor * *low.atom.of;
  }
  return std::nullopt;
}

std::optional<Index> recombine_remainder(const Index& of, std::int64_t, const Ranges& ranges) {
  for (const Term& low : of.terms) {
    std::int64_t factor = 0;
    if (low.atom.kind != AtomKind::remainder ||
        __builtin_mul_overflow(low.factor, low.atom.by, &factor))
      continue;
    const Index above = divide(*low.atom.of, low.atom.by, ranges);
    for (const Term& high : of.terms) {
      std::int64_t product = 0;
      if (high.factor != factor || high.atom.kind != AtomKind::remainder ||
          __builtin_mul_overflow(low.atom.by, high.atom.by, &product) || !(*high.atom.of == above))
        continue;
      return of - low.factor * Index(low.atom) - factor * Index(high.atom) +
             low.factor * remainder(*low.atom.of, product);
    }
  }
  return std::nullopt;
}

using Root = IndexRule::Root;
constexpr std::array kRules{
    IndexRule{Root::quotients, "quotient of multiples", "(c*a + b) div c = a + b div c",
              quotient_of_multiples},
    IndexRule{Root::quotients, "quotient in one multiple", "a div c = k where c*k <= a < c*(k + 1)",
              quotient_in_one_multiple},
    IndexRule{Root::quotients, "quotient by a common factor",
              "(g*a + r) div (g*c) = a div c where 0 <= r < g", quotient_by_common_factor},
    IndexRule{Root::quotients, "quotient of a quotient", "(a div b) div c = a div (b*c)",
              quotient_of_quotient},
    IndexRule{Root::quotients, "quotient of a remainder", "(a mod (b*c)) div b = (a div b) mod c",
              quotient_of_remainder},
    IndexRule{Root::remainders, "remainder of multiples", "(c*a + b) mod c = b mod c",
              remainder_of_multiples},
    IndexRule{Root::remainders, "remainder in one multiple",
              "a mod c = a - c*k where c*k <= a < c*(k + 1)", remainder_in_one_multiple},
    IndexRule{Root::remainders, "remainder by a common factor",
              "(g*a + r) mod (g*c) = g*(a mod c) + r where 0 <= r < g", remainder_by_common_factor},
    IndexRule{Root::remainders, "remainder of a remainder",
              "(f*(a mod b) + d) mod c = (f*a + d) mod c where c divides f*b",
              remainder_of_remainder},
    IndexRule{Root::sums, "whole again", "f*c*(a div c) + f*(a mod c) = f*a", recombine_quotient},
    IndexRule{Root::sums, "remainder again",
              "f*c*((a div c) mod d) + f*(a mod c) = f*(a mod (c*d))", recombine_remainder},
};

Index apply_first(Root root, Index index, std::int64_t by, const Ranges& ranges, bool& matched) {
  for (const IndexRule& rule : kRules) {
    if (rule.root != root) continue;
    if (auto rewritten = rule.apply(index, by, ranges)) {
      matched = true;
      return *std::move(rewritten);
    }
  }
  return index;
}

}  // namespace

std::span<const IndexRule> index_rules() { return kRules; }

Index divide(const Index& of, std::int64_t by, const Ranges& ranges) {
  bool matched = false;
  const Index rewritten = apply_first(Root::quotients, of, by, ranges, matched);
  return matched ? simplify(rewritten, ranges) : quotient(of, by);
}

Index modulo(const Index& of, std::int64_t by, const Ranges& ranges) {
  bool matched = false;
  const Index rewritten = apply_first(Root::remainders, of, by, ranges, matched);
  return matched ? simplify(rewritten, ranges) : remainder(of, by);
}

Index simplify(const Index& index, const Ranges& ranges) {
  Index sum(index.constant);
  for (const Term& term : index.terms) {
    if (term.atom.of == nullptr) {
      sum = sum + term.factor * Index(term.atom);
      continue;
    }
    const Index of = simplify(*term.atom.of, ranges);
    const bool is_quotient = term.atom.kind == AtomKind::quotient;
    sum = sum + term.factor * (is_quotient ? divide(of, term.atom.by, ranges)
                                           : modulo(of, term.atom.by, ranges));
  }
  bool matched = false;
  const Index rewritten = apply_first(Root::sums, sum, 1, ranges, matched);
  return matched ? simplify(rewritten, ranges) : sum;
}

}  // namespace recut::loop

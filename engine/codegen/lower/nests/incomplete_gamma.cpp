// Incomplete gamma functions: power series below the mean, continued fraction above it, and Temme's
// uniform expansion where a is large (Temme 1979; Gautschi 1979 for where to change over).
#include <cmath>

#include "engine/codegen/lower/nests/iteration.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

constexpr double kLargeA = 10000;
constexpr std::int64_t kMaxSteps = 9999;  // below kLargeA both end much earlier

// P is the lower half, Q = 1 - P the upper.
enum class IncompleteGammaHalf { lower, upper };

// x^a e^-x / gamma(a + 1)
ScalarExpr prefactor(const ScalarExpr& a, const ScalarExpr& x) {
  return exp(a * log(x) - x - lgamma(a + 1.0));
}

// P(a, x) by DLMF 8.7.1: x / (a + 1) + x^2 / ((a + 1) (a + 2)) + …
ScalarExpr lower_by_series(const Iteration& work, const ScalarExpr& a, const ScalarExpr& x) {
  const Scratch term = work.number("term", work.real(1));
  const Scratch sum = work.number("sum", work.real(1));
  work.each_while(
      kMaxSteps, [&] { return term.read(0) > sum.read(0) * 1e-17; },
      [&](const Index& step) {
        const ScalarExpr k = work.as_real(step) + 1.0;
        term.write(0, term.read(0) * (x / (a + k)));
        sum.write(0, sum.read(0) + term.read(0));
      });
  return sum.read(0) * prefactor(a, x);
}

// Q(a, x) by the continued fraction DLMF 8.9.2, evaluated from the front by Lentz's method (1976).
ScalarExpr upper_by_fraction(const Iteration& work, const ScalarExpr& a, const ScalarExpr& x) {
  const Scratch b = work.number("b", x + 1.0 - a);
  const Scratch c = work.number("c", work.real(1e300));
  const Scratch d = work.number("d", 1.0 / b.read(0));
  const Scratch value = work.number("fraction", d.read(0));
  const Scratch change = work.number("change", work.real(0));
  work.each_while(
      kMaxSteps, [&] { return !(abs(change.read(0) - 1.0) < 1e-16); },
      [&](const Index& step) {
        const ScalarExpr k = work.as_real(step) + 1.0;
        const ScalarExpr numerator = -k * (k - a);
        b.write(0, b.read(0) + 2.0);
        d.write(0, 1.0 / (numerator * d.read(0) + b.read(0)));
        c.write(0, b.read(0) + numerator / c.read(0));
        change.write(0, d.read(0) * c.read(0));
        value.write(0, value.read(0) * change.read(0));
      });
  return value.read(0) * a * prefactor(a, x);
}

// m - log(1 + m), without cancellation near 0.
ScalarExpr log_gap(const ScalarExpr& m) {
  ScalarExpr sum = m.like(0);
  ScalarExpr power = -m;
  for (int k = 2; k < 12; ++k) {
    power = power * -m;
    sum = sum + power / static_cast<double>(k);
  }
  return select(abs(m) > 0.01, m - log1p(m), sum);
}

// For large a: half an erfc, and the first term of the remainder, whose error is a^-2.
ScalarExpr by_temme(IncompleteGammaHalf half, const ScalarExpr& a, const ScalarExpr& x) {
  const ScalarExpr m = x / a - 1.0;
  const ScalarExpr eta = copysign(sqrt(2.0 * log_gap(m)), m);
  const ScalarExpr series =
      -1.0 / 3 + eta * (1.0 / 12 + eta * (-2.0 / 135 + eta * (1.0 / 864 + eta / 2835.0)));
  const ScalarExpr c = select(abs(eta) < 0.01, series, 1.0 / m - 1.0 / eta);
  const ScalarExpr rest = exp(-a * eta * eta / 2.0) / sqrt(2 * kPi * a) * c;
  const ScalarExpr at = eta * sqrt(a / 2.0);
  return half == IncompleteGammaHalf::lower ? 0.5 * erfc(-at) - rest : 0.5 * erfc(at) + rest;
}

// Special arguments: everything below x, nothing, or NaN, as in ATen.
struct IncompleteGammaEdges {
  ScalarExpr here, value;
};

IncompleteGammaEdges edges(IncompleteGammaHalf half, const ScalarExpr& a, const ScalarExpr& x) {
  const ScalarExpr nan = a.like(std::nan(""));
  const ScalarExpr all = a.like(half == IncompleteGammaHalf::lower ? 1 : 0);
  const ScalarExpr none = a.like(half == IncompleteGammaHalf::lower ? 0 : 1);
  const ScalarExpr outside = is_nan(a) | is_nan(x) | (a < 0.0) | (x < 0.0);
  const ScalarExpr here = outside | (a == 0.0) | (x == 0.0) | is_infinite(a) | is_infinite(x);
  const ScalarExpr of_infinite_a = select(is_infinite(x), nan, none);
  const ScalarExpr of_finite = select(x == 0.0, none, select(is_infinite(a), of_infinite_a, all));
  const ScalarExpr inside = select(a == 0.0, select(x > 0.0, all, nan), of_finite);
  return {here, select(outside, nan, inside)};
}

template <IncompleteGammaHalf half>
void incomplete_gamma(const Nest& nest) {
  const Iteration work(nest);
  work.for_each_element([&](const Indices& at) {
    const ScalarExpr a = work.operand("self", at), x = work.operand("other", at);
    const IncompleteGammaEdges edge = edges(half, a, x);
    const Scratch value = work.number("value", edge.value);
    const ScalarExpr large = !edge.here & (a > kLargeA);
    const ScalarExpr usual = !edge.here & (a <= kLargeA);
    work.when(large, [&] { value.write(0, by_temme(half, a, x)); });
    work.when(usual & (x < a + 1.0), [&] {
      const ScalarExpr lower = lower_by_series(work, a, x);
      value.write(0, half == IncompleteGammaHalf::lower ? lower : 1.0 - lower);
    });
    work.when(usual & !(x < a + 1.0), [&] {
      const ScalarExpr upper = upper_by_fraction(work, a, x);
      value.write(0, half == IncompleteGammaHalf::upper ? upper : 1.0 - upper);
    });
    nest.lowering.write(nest.output(), at, value.read(0));
  });
}

}  // namespace

void add_incomplete_gamma_nests(NestTable& table) {
  table.push_back({Op::igamma, incomplete_gamma<IncompleteGammaHalf::lower>});
  table.push_back({Op::igammac, incomplete_gamma<IncompleteGammaHalf::upper>});
}

}  // namespace recut::loop

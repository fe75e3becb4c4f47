// Orthogonal polynomials by three-term recurrences (DLMF 18.9). The number of steps is the
// element's degree, and each step rounds to the dtype as eval does. Inside (-1, 1) Chebyshev
// polynomials use their trigonometric form.
#include <algorithm>
#include <cmath>

#include "engine/codegen/lower/nests/iteration.h"
#include "engine/ir/promotion.h"

namespace recut::loop {
namespace {

using Q = const ScalarExpr&;

// A closed form: the value, and the condition that it holds.
struct ClosedForm {
  ScalarExpr holds, value;
};

struct Polynomial {
  ClosedForm (*closed_form)(Q x, Q n);
  ScalarExpr (*first)(Q x);  // of degree 1
  // The polynomial of degree k + 1, from p of degree k and q of k - 1.
  ScalarExpr (*next)(Q x, Q k, Q p, Q q);
  bool hermite = false;

  // Beyond this degree the result is NaN: the run time would be excessive, or the values overflow.
  std::int64_t most(DType dtype) const {
    if (!hermite) return 1'000'000;
    return dtype == DType::f64 ? 512 : 128;
  }
};

ScalarExpr even(Q n) { return rem(n, 2.0) == 0.0; }

// At -1 and 1, and above degree `least` between them.
ClosedForm chebyshev(Q x, Q n, double least, Q at_ends, Q inside) {
  const ScalarExpr at_end = abs(x) == 1.0;
  return {at_end | ((n > least) & (abs(x) < 1.0)), select(at_end, at_ends, inside)};
}

ClosedForm chebyshev_t(Q x, Q n) {
  return chebyshev(x, n, 6, select((x > 0.0) | even(n), x.like(1), x.like(-1)), cos(n * acos(x)));
}

ClosedForm chebyshev_u(Q x, Q n) {
  const ScalarExpr up = n + 1.0;
  return chebyshev(x, n, 8, select((x > 0.0) | even(n), up, -up), sin(up * acos(x)) / sin(acos(x)));
}

ClosedForm chebyshev_v(Q x, Q n) {
  const ScalarExpr twice = 2.0 * n + 1.0;
  const ScalarExpr angle = acos(x) / 2.0;
  const ScalarExpr below = select(even(n), twice, -twice);
  return chebyshev(x, n, 8, select(x > 0.0, x.like(1), below), cos(twice * angle) / cos(angle));
}

ClosedForm chebyshev_w(Q x, Q n) {
  const ScalarExpr twice = 2.0 * n + 1.0;
  const ScalarExpr angle = acos(x) / 2.0;
  const ScalarExpr below = select(even(n), x.like(1), x.like(-1));
  return chebyshev(x, n, 8, select(x > 0.0, twice, below), sin(twice * angle) / sin(angle));
}

ClosedForm nowhere(Q x, Q) {
  return {ScalarExpr::constant(x.builder(), DType::boolean, std::int64_t{0}), x};
}
ClosedForm at_zero(Q x, Q) { return {x == 0.0, x.like(1)}; }
ClosedForm at_ends(Q x, Q n) {
  return {abs(x) == 1.0, select((x > 0.0) | even(n), x.like(1), x.like(-1))};
}

ScalarExpr chebyshev_next(Q x, Q, Q p, Q q) { return 2.0 * x * p - q; }

Polynomial chebyshev(ClosedForm (*closed_form)(Q, Q), ScalarExpr (*first)(Q)) {
  return {closed_form, first, chebyshev_next};
}

Polynomial polynomial_of(std::string_view name) {
  const auto is = [&](std::string_view end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  };
  if (is("chebyshev_polynomial_t")) return chebyshev(chebyshev_t, [](Q x) { return x; });
  if (is("chebyshev_polynomial_u")) return chebyshev(chebyshev_u, [](Q x) { return 2.0 * x; });
  if (is("chebyshev_polynomial_v"))
    return chebyshev(chebyshev_v, [](Q x) { return 2.0 * x - 1.0; });
  if (is("chebyshev_polynomial_w"))
    return chebyshev(chebyshev_w, [](Q x) { return 2.0 * x + 1.0; });
  if (is("hermite_polynomial_h"))
    return {nowhere, [](Q x) { return 2.0 * x; },
            [](Q x, Q k, Q p, Q q) { return 2.0 * x * p - 2.0 * k * q; }, true};
  if (is("hermite_polynomial_he"))
    return {nowhere, [](Q x) { return x; }, [](Q x, Q k, Q p, Q q) { return x * p - k * q; }, true};
  if (is("laguerre_polynomial_l"))
    return {at_zero, [](Q x) { return 1.0 - x; },
            [](Q x, Q k, Q p, Q q) { return ((2.0 * k + 1.0 - x) * p - k * q) / (k + 1.0); }};
  return {at_ends, [](Q x) { return x; },
          [](Q x, Q k, Q p, Q q) { return ((2.0 * k + 1.0) * x * p - k * q) / (k + 1.0); }};
}

// The maximal number of steps for the degrees of a call.
std::int64_t max_steps(const Call& call, std::int64_t max_degree) {
  if (call.is_tensor("n")) return max_degree;
  const double degree = call.scalar("n").real;
  if (!(degree > 1)) return 1;
  return static_cast<std::int64_t>(std::min(degree, static_cast<double>(max_degree)));
}

void polynomial(const Nest& nest) {
  const Iteration work(nest);
  const std::string_view name = nest.call.op().packet;
  const Polynomial polynomial = polynomial_of(name);
  const DType dtype = float_of(result_dtype(nest.call));
  const std::int64_t most = polynomial.most(dtype);
  const auto rounded = [&](const ScalarExpr& value) {
    return nest.lowering.rounded(value, dtype).to(DType::f64);
  };
  work.for_each_element([&](const Indices& at) {
    const ScalarExpr given = work.operand("x", at), degree = work.operand("n", at);
    const bool shifted = name.find("shifted_") != std::string_view::npos;
    const ScalarExpr moved = shifted ? rounded(2.0 * given - 1.0) : given;
    const ScalarExpr x{&work.builder, moved.id()};
    const ScalarExpr n = trunc(smaller(degree, 9e18));
    const ClosedForm closed_form = polynomial.closed_form(x, n);
    const ScalarExpr first = rounded(polynomial.first(x));
    const ScalarExpr start = select(n > static_cast<double>(most), x.like(std::nan("")), first);
    const Scratch before = work.number("before", work.real(1));
    const Scratch now = work.number("now", select(n == 0.0, x.like(1), start));
    const ScalarExpr steps{&work.builder, select(closed_form.holds, n.like(0), n).id()};
    const Scratch done = work.number("done", work.real(1));
    work.each_while(
        max_steps(nest.call, most), [&] { return (done.read(0) < steps) & !is_nan(now.read(0)); },
        [&](const Index& step) {
          const ScalarExpr k = work.as_real(step) + 1.0;
          const ScalarExpr p = now.read(0);
          const ScalarExpr after = rounded(polynomial.next(x, k, p, before.read(0)));
          now.write(0, after);
          before.write(0, p);
          done.write(0, k + 1.0);
        });
    const ScalarExpr value = select(closed_form.holds, closed_form.value, now.read(0));
    nest.lowering.write(nest.output(), at, select(degree > -1.0, value, x.like(0)));
  });
}

}  // namespace

#define RECUT_POLYNOMIAL(name) \
  Op::special_##name, Op::special_##name##_x_scalar, Op::special_##name##_n_scalar

void add_polynomial_nests(NestTable& table) {
  for (const Op op :
       {RECUT_POLYNOMIAL(chebyshev_polynomial_t), RECUT_POLYNOMIAL(chebyshev_polynomial_u),
        RECUT_POLYNOMIAL(chebyshev_polynomial_v), RECUT_POLYNOMIAL(chebyshev_polynomial_w),
        RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_t),
        RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_u),
        RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_v),
        RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_w), RECUT_POLYNOMIAL(hermite_polynomial_h),
        RECUT_POLYNOMIAL(hermite_polynomial_he), RECUT_POLYNOMIAL(laguerre_polynomial_l),
        RECUT_POLYNOMIAL(legendre_polynomial_p)})
    table.push_back({op, polynomial});
}

#undef RECUT_POLYNOMIAL

}  // namespace recut::loop

// Orthogonal polynomials by their three-term recurrences (DLMF 18.9), and Chebyshev's by their
// trigonometric form inside (-1, 1). ATen gives 0 for negative degrees and runs the recurrences in
// the tensor's dtype, where they overflow to inf and then NaN: each step is rounded to it here too.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/special.h"

namespace recut {
namespace {

using namespace elementwise;

// p(0) = 1, p(1) = first, p(k + 1) = next(k, p(k), p(k - 1)). A higher degree gives NaN, as it
// would take too long.
constexpr std::int64_t kMaxDegree = 1'000'000;

template <class Next>
double recur(DType dtype, std::int64_t n, double first, Next next) {
  if (n == 0) return 1;
  if (n > kMaxDegree) return std::nan("");
  double before = 1;
  double now = round_to(dtype, first);
  for (std::int64_t k = 1; k < n && !std::isnan(now); ++k) {
    const double after = round_to(dtype, next(static_cast<double>(k), now, before));
    before = now;
    now = after;
  }
  return now;
}

bool even(std::int64_t n) { return n % 2 == 0; }

// All four kinds of Chebyshev's share one recurrence and differ in p(1).
double chebyshev_recurrence(DType dtype, double x, std::int64_t n, double first) {
  return recur(dtype, n, first, [=](double, double p, double q) { return 2 * x * p - q; });
}

double chebyshev_t(DType dtype, double x, std::int64_t n) {
  if (std::abs(x) == 1) return x > 0 || even(n) ? 1 : -1;
  if (n > 6 && std::abs(x) < 1) return std::cos(static_cast<double>(n) * std::acos(x));
  return chebyshev_recurrence(dtype, x, n, x);
}

double chebyshev_u(DType dtype, double x, std::int64_t n) {
  const double up = static_cast<double>(n) + 1;
  if (std::abs(x) == 1) return x > 0 || even(n) ? up : -up;
  if (n > 8 && std::abs(x) < 1) return std::sin(up * std::acos(x)) / std::sin(std::acos(x));
  return chebyshev_recurrence(dtype, x, n, 2 * x);
}

double chebyshev_v(DType dtype, double x, std::int64_t n) {
  const double twice = 2 * static_cast<double>(n) + 1;
  if (std::abs(x) == 1) return x > 0 ? 1 : (even(n) ? twice : -twice);
  const double angle = std::acos(x) / 2;
  if (n > 8 && std::abs(x) < 1) return std::cos(twice * angle) / std::cos(angle);
  return chebyshev_recurrence(dtype, x, n, 2 * x - 1);
}

double chebyshev_w(DType dtype, double x, std::int64_t n) {
  const double twice = 2 * static_cast<double>(n) + 1;
  if (std::abs(x) == 1) return x > 0 ? twice : (even(n) ? 1 : -1);
  const double angle = std::acos(x) / 2;
  if (n > 8 && std::abs(x) < 1) return std::sin(twice * angle) / std::sin(angle);
  return chebyshev_recurrence(dtype, x, n, 2 * x + 1);
}

// ATen gives up on Hermite polynomials of degrees that overflow anyway.
bool beyond_hermite(DType dtype, std::int64_t n) { return n > (dtype == DType::f64 ? 512 : 128); }

double hermite_h(DType dtype, double x, std::int64_t n) {
  if (beyond_hermite(dtype, n)) return std::nan("");
  return recur(dtype, n, 2 * x,
               [=](double k, double p, double q) { return 2 * x * p - 2 * k * q; });
}

double hermite_he(DType dtype, double x, std::int64_t n) {
  if (beyond_hermite(dtype, n)) return std::nan("");
  return recur(dtype, n, x, [=](double k, double p, double q) { return x * p - k * q; });
}

double laguerre_l(DType dtype, double x, std::int64_t n) {
  if (x == 0) return 1;
  return recur(dtype, n, 1 - x, [=](double k, double p, double q) {
    return ((2 * k + 1 - x) * p - k * q) / (k + 1);
  });
}

double legendre_p(DType dtype, double x, std::int64_t n) {
  if (std::abs(x) == 1) return x > 0 || even(n) ? 1 : -1;
  return recur(dtype, n, x, [=](double k, double p, double q) {
    return ((2 * k + 1) * x * p - k * q) / (k + 1);
  });
}

using Polynomial = double (*)(DType, double, std::int64_t);

// Degrees come as numbers of the computation's dtype and are truncated. Shifted polynomials are
// evaluated at 2 x - 1.
template <Polynomial polynomial, bool shifted>
Result<Done> special_polynomial_kernel(KernelContext& c) {
  const DType dtype = float_of(result_dtype(c.call));
  return reals(
      c,
      [=](double x, double degree) {
        if (!(degree > -1)) return 0.0;
        const auto n = static_cast<std::int64_t>(std::fmin(degree, 9e18));
        return polynomial(dtype, shifted ? round_to(dtype, 2 * x - 1) : x, n);
      },
      "x", "n");
}

template <Polynomial polynomial, bool shifted = false>
void add(KernelTable& table, Op both, Op x_scalar, Op n_scalar) {
  for (const Op op : {both, x_scalar, n_scalar})
    table.add(op, special_polynomial_kernel<polynomial, shifted>);
}

}  // namespace

#define RECUT_POLYNOMIAL(name) \
  Op::special_##name, Op::special_##name##_x_scalar, Op::special_##name##_n_scalar

void add_polynomial_kernels(KernelTable& table) {
  add<chebyshev_t>(table, RECUT_POLYNOMIAL(chebyshev_polynomial_t));
  add<chebyshev_u>(table, RECUT_POLYNOMIAL(chebyshev_polynomial_u));
  add<chebyshev_v>(table, RECUT_POLYNOMIAL(chebyshev_polynomial_v));
  add<chebyshev_w>(table, RECUT_POLYNOMIAL(chebyshev_polynomial_w));
  add<chebyshev_t, true>(table, RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_t));
  add<chebyshev_u, true>(table, RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_u));
  add<chebyshev_v, true>(table, RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_v));
  add<chebyshev_w, true>(table, RECUT_POLYNOMIAL(shifted_chebyshev_polynomial_w));
  add<hermite_h>(table, RECUT_POLYNOMIAL(hermite_polynomial_h));
  add<hermite_he>(table, RECUT_POLYNOMIAL(hermite_polynomial_he));
  add<laguerre_l>(table, RECUT_POLYNOMIAL(laguerre_polynomial_l));
  add<legendre_p>(table, RECUT_POLYNOMIAL(legendre_polynomial_p));
}

#undef RECUT_POLYNOMIAL

}  // namespace recut

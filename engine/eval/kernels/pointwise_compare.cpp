// Comparisons and logic, with bool results.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

// 0 for NaN, as in ATen (numpy's gives NaN).
Result<Done> heaviside(KernelContext& c) {
  return arithmetic(
      c,
      [](auto x, auto at_zero) {
        return x == 0 ? at_zero : static_cast<decltype(x)>(x > 0 ? 1 : 0);
      },
      "self", "values");
}

Result<Done> isclose(KernelContext& c) {
  const double relative = c.call.real("rtol");
  const double absolute = c.call.real("atol");
  const bool equal_nan = c.call.boolean("equal_nan");
  const auto close = [=](double a, double b) {
    if (a == b || (equal_nan && std::isnan(a) && std::isnan(b))) return true;
    const double distance = std::abs(a - b);
    return std::isfinite(distance) && distance <= absolute + std::abs(relative * b);
  };
  return apply<double, std::int64_t>(c, result_dtype(c.call), Numbers::comparison, close, "self",
                                     "other");
}

template <class F>
Kernel of_reals(F) {
  return [](KernelContext& c) -> Result<Done> {
    return predicate(
        c, [](auto x) { return F{}(static_cast<double>(x)); }, "self");
  };
}

}  // namespace

void add_comparison_kernels(KernelTable& table) {
  const auto pair = [&](Op tensor, Op scalar, Kernel kernel) {
    table.add(tensor, kernel);
    table.add(scalar, kernel);
  };
  pair(Op::eq_Tensor, Op::eq_Scalar, binary_predicate([](auto a, auto b) { return a == b; }));
  pair(Op::ne_Tensor, Op::ne_Scalar, binary_predicate([](auto a, auto b) { return a != b; }));
  pair(Op::lt_Tensor, Op::lt_Scalar, binary_predicate([](auto a, auto b) { return a < b; }));
  pair(Op::le_Tensor, Op::le_Scalar, binary_predicate([](auto a, auto b) { return a <= b; }));
  pair(Op::gt_Tensor, Op::gt_Scalar, binary_predicate([](auto a, auto b) { return a > b; }));
  pair(Op::ge_Tensor, Op::ge_Scalar, binary_predicate([](auto a, auto b) { return a >= b; }));
  table.add(Op::logical_and, binary_predicate([](auto a, auto b) { return a != 0 && b != 0; }));
  table.add(Op::logical_or, binary_predicate([](auto a, auto b) { return a != 0 || b != 0; }));
  table.add(Op::logical_xor, binary_predicate([](auto a, auto b) { return (a != 0) != (b != 0); }));
  table.add(Op::logical_not, unary_predicate([](auto a) { return a == 0; }));
  table.add(Op::isnan, of_reals([](double x) { return std::isnan(x); }));
  table.add(Op::isinf, of_reals([](double x) { return std::isinf(x); }));
  table.add(Op::isfinite, of_reals([](double x) { return std::isfinite(x); }));
  table.add(Op::isposinf, of_reals([](double x) { return std::isinf(x) && x > 0; }));
  table.add(Op::isneginf, of_reals([](double x) { return std::isinf(x) && x < 0; }));
  table.add(Op::signbit, of_reals([](double x) { return std::signbit(x); }));
  table.add(Op::heaviside, heaviside);
  table.add(Op::isclose, isclose);
}

}  // namespace recut

// One of two: larger and smaller, clamping, where.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

Result<Done> clamp(KernelContext& c) {
  const bool low = c.call.given("min");
  const bool high = c.call.given("max");
  const auto up = [](auto x, auto min_value) { return larger(x, min_value); };
  const auto down = [](auto x, auto max_value) { return smaller(x, max_value); };
  if (low && high)
    return arithmetic(
        c,
        [=](auto x, auto min_value, auto max_value) { return down(up(x, min_value), max_value); },
        "self", "min", "max");
  if (low) return arithmetic(c, up, "self", "min");
  if (high) return arithmetic(c, down, "self", "max");
  return arithmetic(
      c, [](auto x) { return x; }, "self");
}

template <class T>
Done choose(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const DType dtype = c.output_types[0].dtype;
  const Reals condition = broadcast_to(c.reals("condition"), shape);
  const Dense<T> yes = broadcast_to(operand<T>(c, "self", dtype, Numbers::comparison), shape);
  const Dense<T> no = broadcast_to(operand<T>(c, "other", dtype, Numbers::comparison), shape);
  c.write(map<T>([](double p, T a, T b) { return p != 0 ? a : b; }, condition, yes, no));
  return Done{};
}

Result<Done> where(KernelContext& c) {
  const DType dtype = c.output_types[0].dtype;
  if (is_complex(dtype)) return choose<Complex>(c);
  return is_floating(dtype) ? choose<double>(c) : choose<std::int64_t>(c);
}

double larger_number(double a, double b) { return std::fmax(a, b); }
std::int64_t larger_number(std::int64_t a, std::int64_t b) { return larger(a, b); }
double smaller_number(double a, double b) { return std::fmin(a, b); }
std::int64_t smaller_number(std::int64_t a, std::int64_t b) { return smaller(a, b); }

}  // namespace

void add_selection_kernels(KernelTable& table) {
  const Kernel maximum = binary([](auto a, auto b) { return larger(a, b); });
  const Kernel minimum = binary([](auto a, auto b) { return smaller(a, b); });
  for (const Op op : {Op::maximum, Op::max_other, Op::clamp_min, Op::clamp_min_Tensor})
    table.add(op, maximum);
  for (const Op op : {Op::minimum, Op::min_other, Op::clamp_max, Op::clamp_max_Tensor})
    table.add(op, minimum);
  table.add(Op::fmax, binary([](auto a, auto b) { return larger_number(a, b); }));
  table.add(Op::fmin, binary([](auto a, auto b) { return smaller_number(a, b); }));
  for (const Op op : {Op::clamp, Op::clamp_Tensor}) table.add(op, clamp);
  for (const Op op :
       {Op::where_self, Op::where_ScalarSelf, Op::where_ScalarOther, Op::where_Scalar})
    table.add_any(op, where);
}

}  // namespace recut

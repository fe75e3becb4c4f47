// Sums, products, means, variances. Elements are reduced in row-major order, in double or in 64-bit
// integers. Variances take two passes over the data, since the one-pass formula cancels.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

using elementwise::plus;
using elementwise::times;

// Folds f over the operand, read in the output's dtype, from `initial`.
template <class F>
Done fold_numbers(KernelContext& c, int initial, F f) {
  const TensorType& out = c.output_types[0];
  const auto reduced = reduced_dimensions(c.call, c.call.tensor("self").shape);
  if (is_complex(out.dtype))
    c.write(fold<Complex>(read_as<Complex>(c, "self", out.dtype), reduced, out.shape,
                          Complex(initial), f));
  else if (is_floating(out.dtype))
    c.write(fold<double>(read_as<double>(c, "self", out.dtype), reduced, out.shape,
                         static_cast<double>(initial), f));
  else
    c.write(fold<std::int64_t>(read_as<std::int64_t>(c, "self", out.dtype), reduced, out.shape,
                               std::int64_t{initial}, f));
  return Done{};
}

Result<Done> sum(KernelContext& c) {
  return fold_numbers(c, 0, [](auto total, auto x) { return plus(total, x); });
}

Result<Done> product(KernelContext& c) {
  return fold_numbers(c, 1, [](auto total, auto x) { return times(total, x); });
}

Result<Done> nansum(KernelContext& c) {
  return fold_numbers(c, 0, [](auto total, auto x) { return x != x ? total : plus(total, x); });
}

Result<Done> mean(KernelContext& c) {
  const TensorType& out = c.output_types[0];
  const Reals self = read_as<double>(c, "self", out.dtype);
  const auto reduced = reduced_dimensions(c.call, self.shape);
  Reals total =
      fold<double>(self, reduced, out.shape, 0.0, [](double s, double x) { return s + x; });
  const auto count = static_cast<double>(reduced_count(self.shape, reduced));
  for (double& x : total.data) x /= count;
  c.write(total);
  return Done{};
}

Result<Done> complex_mean(KernelContext& c) {
  const TensorType& out = c.output_types[0];
  const Complexes self = read_as<Complex>(c, "self", out.dtype);
  const auto reduced = reduced_dimensions(c.call, self.shape);
  Complexes total = fold<Complex>(self, reduced, out.shape, Complex(),
                                  [](Complex s, Complex x) { return s + x; });
  const auto count = static_cast<double>(reduced_count(self.shape, reduced));
  for (Complex& x : total.data) x /= count;
  c.write(total);
  return Done{};
}

Result<Done> nanmean(KernelContext& c) {
  const TensorType& out = c.output_types[0];
  const Reals self = read_as<double>(c, "self", out.dtype);
  const auto reduced = reduced_dimensions(c.call, self.shape);
  Reals total = fold<double>(self, reduced, out.shape, 0.0,
                             [](double s, double x) { return std::isnan(x) ? s : s + x; });
  const Reals count = fold<double>(self, reduced, out.shape, 0.0,
                                   [](double n, double x) { return std::isnan(x) ? n : n + 1; });
  for (std::int64_t i = 0; i < total.count(); ++i) total[i] /= count[i];
  c.write(total);
  return Done{};
}

// Bessel's correction: `correction`, or 1 if `unbiased`.
double correction_of(const Call& call) {
  if (call.op().parameter("unbiased")) return call.boolean("unbiased") ? 1 : 0;
  return call.given("correction") ? call.scalar("correction").real : 1;
}

template <class T>
struct Moments {
  Dense<T> mean;
  Reals variance;
};

double squared_magnitude(double x) { return x * x; }
double squared_magnitude(Complex x) { return std::norm(x); }

// In two passes: the mean, then the squares about it. A correction of n or more divides by 0, which
// gives NaN for equal elements and infinity for others, as ATen has it.
template <class T>
Moments<T> moments(const KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const Dense<T> self = c.read<T>("self");
  const auto reduced = reduced_dimensions(c.call, self.shape);
  const auto count = static_cast<double>(reduced_count(self.shape, reduced));
  Moments<T> m{Dense<T>(shape), Reals(shape)};
  m.mean = fold<T>(self, reduced, shape, T(), [](T s, T x) { return s + x; });
  for (T& x : m.mean.data) x /= count;
  for_each_reduced(self.shape, reduced, [&](std::int64_t i, std::int64_t o) {
    m.variance[o] += squared_magnitude(self[i] - m.mean[o]);
  });
  const double divisor = std::fmax(count - correction_of(c.call), 0);
  for (double& x : m.variance.data) x /= divisor;
  return m;
}

template <class T, bool root>
Result<Done> variance(KernelContext& c) {
  Moments<T> m = moments<T>(c);
  if (root)
    for (double& x : m.variance.data) x = std::sqrt(x);
  c.write(m.variance);
  if (c.output_types.size() > 1) c.write(m.mean, 1);
  return Done{};
}

Result<Done> logsumexp(KernelContext& c) {
  const TensorType& out = c.output_types[0];
  const Reals self = read_as<double>(c, "self", out.dtype);
  const auto reduced = reduced_dimensions(c.call, self.shape);
  Reals max_values = fold<double>(self, reduced, out.shape, -INFINITY,
                                  [](double m, double x) { return elementwise::larger(m, x); });
  // An infinite maximum can't be subtracted; without it exp gives the right infinities by itself.
  for (double& m : max_values.data) m = std::isinf(m) ? 0 : m;
  Reals total(out.shape);
  for_each_reduced(self.shape, reduced, [&](std::int64_t i, std::int64_t o) {
    total[o] += std::exp(self[i] - max_values[o]);
  });
  for (std::int64_t o = 0; o < total.count(); ++o) total[o] = std::log(total[o]) + max_values[o];
  c.write(total);
  return Done{};
}

template <class T>
void add_diagonal(KernelContext& c) {
  const Dense<T> self = c.read<T>("self");
  const std::int64_t columns = self.shape[1];
  Dense<T> total(Shape{});
  for (std::int64_t i = 0; i < std::min(self.shape[0], columns); ++i)
    total[0] = plus(total[0], self[i * columns + i]);
  c.write(total);
}

Result<Done> trace(KernelContext& c) {
  const DType dtype = c.call.tensor("self").dtype;
  if (is_complex(dtype))
    add_diagonal<Complex>(c);
  else if (is_floating(dtype))
    add_diagonal<double>(c);
  else
    add_diagonal<std::int64_t>(c);
  return Done{};
}

}  // namespace

void add_sum_kernels(KernelTable& table) {
  for (const Op op : {Op::sum, Op::sum_dim_IntList}) table.add_any(op, sum);
  for (const Op op : {Op::prod, Op::prod_dim_int}) table.add_any(op, product);
  table.add(Op::nansum, nansum);
  for (const Op op : {Op::mean, Op::mean_dim}) {
    table.add(op, mean);
    table.add_complex(op, complex_mean);
  }
  table.add(Op::nanmean, nanmean);
  for (const Op op : {Op::var, Op::var_dim, Op::var_correction, Op::var_mean, Op::var_mean_dim,
                      Op::var_mean_correction}) {
    table.add(op, variance<double, false>);
    table.add_complex(op, variance<Complex, false>);
  }
  for (const Op op : {Op::std, Op::std_dim, Op::std_correction, Op::std_mean, Op::std_mean_dim,
                      Op::std_mean_correction}) {
    table.add(op, variance<double, true>);
    table.add_complex(op, variance<Complex, true>);
  }
  table.add(Op::logsumexp, logsumexp);
  table.add_any(Op::trace, trace);
}

}  // namespace recut

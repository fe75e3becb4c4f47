// Running sums, products and extremes along one dimension.
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

using namespace elementwise;

// acc = f(acc, x) along each line, every acc written.
template <class T, class F>
Dense<T> running(Dense<T> values, const Lines& lines, F f) {
  for (std::int64_t line = 0; line < lines.count; ++line) {
    const std::int64_t first = lines.begin(line);
    for (std::int64_t k = 1; k < lines.length; ++k) {
      const std::int64_t at = first + k * lines.step;
      values[at] = f(values[at - lines.step], values[at]);
    }
  }
  return values;
}

template <class F>
Done scan(KernelContext& c, F f) {
  const DType dtype = c.output_types[0].dtype;
  const Lines lines = lines_of(c.call, c.call.tensor("self").shape);
  if (is_complex(dtype))
    c.write(running(read_as<Complex>(c, "self", dtype), lines, f));
  else if (is_floating(dtype))
    c.write(running(read_as<double>(c, "self", dtype), lines, f));
  else
    c.write(running(read_as<std::int64_t>(c, "self", dtype), lines, f));
  return Done{};
}

Result<Done> cumsum(KernelContext& c) {
  return scan(c, [](auto total, auto x) { return plus(total, x); });
}

Result<Done> cumprod(KernelContext& c) {
  return scan(c, [](auto total, auto x) { return times(total, x); });
}

Result<Done> logcumsumexp(KernelContext& c) {
  const Lines lines = lines_of(c.call, c.call.tensor("self").shape);
  c.write(running(c.reals("self"), lines, [](double total, double x) {
    if (std::isinf(total) && total == x) return total;
    return larger(total, x) + std::log1p(std::exp(-std::abs(total - x)));
  }));
  return Done{};
}

// Values and indices of the running extreme. Among equals the last index counts, unlike in max.dim;
// from the first NaN on, each NaN takes over.
template <class T, class Better>
void running_extreme(KernelContext& c, const Dense<T>& values, Better better) {
  const Lines lines = lines_of(c.call, values.shape);
  Dense<T> out(values.shape);
  Integers positions(values.shape);
  for (std::int64_t line = 0; line < lines.count; ++line) {
    const std::int64_t first = lines.begin(line);
    std::int64_t best = 0;
    for (std::int64_t k = 0; k < lines.length; ++k) {
      const T x = values[first + k * lines.step];
      const T max_value = values[first + best * lines.step];
      if (x != x || (max_value == max_value && better(x, max_value))) best = k;
      out[first + k * lines.step] = values[first + best * lines.step];
      positions[first + k * lines.step] = best;
    }
  }
  c.write(out, 0);
  c.write(positions, 1);
}

template <class Better>
Done scan_extreme(KernelContext& c, Better better) {
  if (is_floating(c.call.tensor("self").dtype))
    running_extreme(c, c.reals("self"), better);
  else
    running_extreme(c, c.integers("self"), better);
  return Done{};
}

Result<Done> cummax(KernelContext& c) {
  return scan_extreme(c, [](auto x, auto max_value) { return x >= max_value; });
}

Result<Done> cummin(KernelContext& c) {
  return scan_extreme(c, [](auto x, auto min_value) { return x <= min_value; });
}

}  // namespace

void add_scan_kernels(KernelTable& table) {
  table.add_any(Op::cumsum, cumsum);
  table.add_any(Op::cumprod, cumprod);
  table.add(Op::logcumsumexp, logcumsumexp);
  table.add(Op::cummax, cummax);
  table.add(Op::cummin, cummin);
}

}  // namespace recut

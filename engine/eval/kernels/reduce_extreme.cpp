// Largest and smallest elements, their indices, and logic over dimensions.
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

// True if x replaces the best so far: strictly better, or the first NaN.
struct Larger {
  template <class T>
  static bool beats(T x, T best) {
    return best == best && (x > best || x != x);
  }
};
struct Smaller {
  template <class T>
  static bool beats(T x, T best) {
    return best == best && (x < best || x != x);
  }
};

// Row-major indices of the best element for each output; -1 where there is none.
template <class Order, class T>
Integers best_positions(const Dense<T>& values, const std::vector<bool>& reduced,
                        const Shape& output) {
  Integers best(output, -1);
  for_each_reduced(values.shape, reduced, [&](std::int64_t i, std::int64_t o) {
    if (best[o] < 0 || Order::beats(values[i], values[best[o]])) best[o] = i;
  });
  return best;
}

template <class T>
void write_at(KernelContext& c, const Dense<T>& values, const Integers& positions,
              std::size_t output) {
  Dense<T> out(positions.shape);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = values[positions[i]];
  c.write(out, output);
}

// The extreme values as output `output`.
template <class Order>
void write_extreme(KernelContext& c, std::size_t output) {
  if (!c.requested(output)) return;
  const Shape& shape = c.output_types[output].shape;
  const auto reduced = reduced_dimensions(c.call, c.call.tensor("self").shape);
  if (is_floating(c.output_types[output].dtype)) {
    const Reals self = c.reals("self");
    write_at(c, self, best_positions<Order>(self, reduced, shape), output);
  } else {
    const Integers self = c.integers("self");
    write_at(c, self, best_positions<Order>(self, reduced, shape), output);
  }
}

template <class Order>
Result<Done> extreme(KernelContext& c) {
  write_extreme<Order>(c, 0);
  return Done{};
}

Result<Done> aminmax(KernelContext& c) {
  write_extreme<Smaller>(c, 0);
  write_extreme<Larger>(c, 1);
  return Done{};
}

// The index of the best element: along `dim`, or in the flattened tensor.
template <class Order>
Integers best_indices(KernelContext& c, const Shape& output) {
  const Shape& shape = c.call.tensor("self").shape;
  const auto reduced = reduced_dimensions(c.call, shape);
  Integers positions = is_floating(c.call.tensor("self").dtype)
                           ? best_positions<Order>(c.reals("self"), reduced, output)
                           : best_positions<Order>(c.integers("self"), reduced, output);
  if (c.call.given("dim")) {
    const Lines lines = lines_of(c.call, shape);
    for (std::int64_t& position : positions.data) position = position / lines.step % lines.length;
  }
  return positions;
}

template <class Order>
Result<Done> argument_of_extreme(KernelContext& c) {
  c.write(best_indices<Order>(c, c.output_types[0].shape));
  return Done{};
}

template <class Order>
Result<Done> extreme_with_index(KernelContext& c) {
  write_extreme<Order>(c, 0);
  if (c.requested(1)) c.write(best_indices<Order>(c, c.output_types[1].shape), 1);
  return Done{};
}

// Logic and counts look at whether elements are 0. NaN is not.
template <class F>
Done fold_truth(KernelContext& c, std::int64_t initial, bool empty_reduces_all, F f) {
  const Reals self = c.reals("self");
  const auto reduced = reduced_dimensions(c.call, self.shape, empty_reduces_all);
  c.write(fold<std::int64_t>(self, reduced, c.output_types[0].shape, initial, f));
  return Done{};
}

Result<Done> any(KernelContext& c) {
  return fold_truth(c, 0, false,
                    [](std::int64_t so_far, double x) { return so_far | std::int64_t{x != 0}; });
}
Result<Done> all(KernelContext& c) {
  return fold_truth(c, 1, false,
                    [](std::int64_t so_far, double x) { return so_far & std::int64_t{x != 0}; });
}
Result<Done> count_nonzero(KernelContext& c) {
  return fold_truth(c, 0, true,
                    [](std::int64_t so_far, double x) { return so_far + std::int64_t{x != 0}; });
}

}  // namespace

void add_extreme_kernels(KernelTable& table) {
  for (const Op op : {Op::amax, Op::max}) table.add(op, extreme<Larger>);
  for (const Op op : {Op::amin, Op::min}) table.add(op, extreme<Smaller>);
  table.add(Op::aminmax, aminmax);
  table.add(Op::max_dim, extreme_with_index<Larger>);
  table.add(Op::min_dim, extreme_with_index<Smaller>);
  table.add(Op::argmax, argument_of_extreme<Larger>);
  table.add(Op::argmin, argument_of_extreme<Smaller>);
  for (const Op op : {Op::any, Op::any_dim, Op::any_dims}) table.add(op, any);
  for (const Op op : {Op::all, Op::all_dim, Op::all_dims}) table.add(op, all);
  for (const Op op : {Op::count_nonzero, Op::count_nonzero_dim_IntList})
    table.add(op, count_nonzero);
}

}  // namespace recut

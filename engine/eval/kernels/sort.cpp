// Sorting along a dimension, and selections from the sorted order (topk, kthvalue, median, mode).
// All of it is stable, so that indices of equals are the same on every platform; NaN counts as the
// largest.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

// The permutation that sorts `values` stably; NaN counts as the largest.
std::vector<std::int64_t> stable_argsort(std::span<const double> values, bool descending) {
  std::vector<std::int64_t> positions(values.size());
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  const auto at = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  const auto ascends = [&](double a, double b) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  };
  std::stable_sort(positions.begin(), positions.end(), [&](std::int64_t a, std::int64_t b) {
    return descending ? ascends(at(b), at(a)) : ascends(at(a), at(b));
  });
  return positions;
}

// Reads self for comparing. Integers beyond 2^53 would lose bits as doubles, so that they are read
// as ranks instead: equal order, equal ties.
struct Sortable {
  Reals keys;
  Reals reals;        // of floating tensors
  Integers integers;  // of others
  bool floating = false;

  explicit Sortable(const KernelContext& c) : floating(is_floating(c.call.tensor("self").dtype)) {
    if (floating) {
      reals = c.reals("self");
      keys = reals;
      return;
    }
    integers = c.integers("self");
    std::vector<std::int64_t> distinct = integers.data;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    keys = Reals(integers.shape);
    for (std::int64_t i = 0; i < keys.count(); ++i)
      keys[i] = static_cast<double>(
          std::lower_bound(distinct.begin(), distinct.end(), integers[i]) - distinct.begin());
  }

  // Writes the elements at `positions` (row-major, of self) as output 0.
  void write(KernelContext& c, const Integers& positions) const {
    if (floating)
      write_as(c, reals, positions);
    else
      write_as(c, integers, positions);
  }

 private:
  template <class T>
  static void write_as(KernelContext& c, const Dense<T>& values, const Integers& positions) {
    Dense<T> out(positions.shape);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = values[positions[i]];
    c.write(out, 0);
  }
};

std::vector<double> line_of(const Reals& keys, const Lines& lines, std::int64_t line) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(lines.length));
  for (std::int64_t k = 0; k < lines.length; ++k)
    values.push_back(keys[lines.begin(line) + k * lines.step]);
  return values;
}

// Writes, for each line of self, the elements that choose(values of the line) selects: as many as
// the output's lines are long. `values` and `indices` are output numbers, or -1.
template <class Choose>
Done pick(KernelContext& c, std::int64_t dimension, int values, int indices, Choose choose) {
  const Sortable self(c);
  const Lines from(self.keys.shape, dimension);
  const Shape& shape = c.output_types[static_cast<std::size_t>(std::max(values, 0))].shape;
  Integers positions(shape);
  Integers along(shape);
  const std::int64_t chosen = from.count == 0 ? 0 : positions.count() / from.count;
  Lines to = from;
  to.length = chosen;
  for (std::int64_t line = 0; line < from.count; ++line) {
    const std::vector<std::int64_t> best = choose(line_of(self.keys, from, line));
    for (std::int64_t k = 0; k < chosen; ++k) {
      const std::int64_t at = to.begin(line) + k * to.step;
      along[at] = best[static_cast<std::size_t>(k)];
      positions[at] = from.begin(line) + along[at] * from.step;
    }
  }
  if (values >= 0 && c.requested(static_cast<std::size_t>(values))) self.write(c, positions);
  if (indices >= 0) c.write(along, static_cast<std::size_t>(indices));
  return Done{};
}

std::int64_t dimension_of(const KernelContext& c) {
  return wrap_dimension(c.call.integer("dim"), c.call.tensor("self").rank()).value();
}

Result<Done> sort(KernelContext& c) {
  const bool descending = c.call.boolean("descending");
  return pick(c, dimension_of(c), 0, 1,
              [=](const std::vector<double>& line) { return stable_argsort(line, descending); });
}

Result<Done> argsort(KernelContext& c) {
  const bool descending = c.call.boolean("descending");
  return pick(c, dimension_of(c), -1, 0,
              [=](const std::vector<double>& line) { return stable_argsort(line, descending); });
}

Result<Done> msort(KernelContext& c) {
  return pick(c, 0, 0, -1,
              [](const std::vector<double>& line) { return stable_argsort(line, false); });
}

Result<Done> topk(KernelContext& c) {
  const bool largest = c.call.boolean("largest");
  return pick(c, dimension_of(c), 0, 1,
              [=](const std::vector<double>& line) { return stable_argsort(line, largest); });
}

// The index of the line's element of sorted rank `rank`.
std::vector<std::int64_t> position_of_rank(const std::vector<double>& line, std::int64_t rank) {
  return {stable_argsort(line, false)[static_cast<std::size_t>(rank)]};
}

Result<Done> kthvalue(KernelContext& c) {
  const std::int64_t k = c.call.integer("k");
  return pick(c, dimension_of(c), 0, 1,
              [=](const std::vector<double>& line) { return position_of_rank(line, k - 1); });
}

// The index of the lower median, or of the first NaN unless NaNs are ignored.
std::int64_t median_position(const std::vector<double>& line, bool ignore_nan) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  const auto nans = std::count_if(line.begin(), line.end(), is_nan);
  const auto first = std::find_if(line.begin(), line.end(), is_nan) - line.begin();
  const auto size = static_cast<std::int64_t>(line.size());
  if (nans > 0 && (!ignore_nan || nans == size)) return first;
  return position_of_rank(line, (size - nans - 1) / 2).front();
}

template <bool ignore_nan>
Result<Done> median_along(KernelContext& c) {
  return pick(c, dimension_of(c), 0, 1, [](const std::vector<double>& line) {
    return std::vector{median_position(line, ignore_nan)};
  });
}

template <bool ignore_nan>
Result<Done> median(KernelContext& c) {
  const Sortable self(c);
  if (self.keys.count() == 0) {
    c.write(Reals(Shape{}, std::nan("")));
    return Done{};
  }
  self.write(c, Integers(Shape{}, median_position(self.keys.data, ignore_nan)));
  return Done{};
}

// The last index of the most frequent value; ties go to the smallest value.
std::vector<std::int64_t> mode_position(const std::vector<double>& line) {
  const auto positions = stable_argsort(line, false);
  const auto at = [&](std::size_t i) { return line[static_cast<std::size_t>(positions[i])]; };
  std::int64_t best = 0;
  std::size_t max_count = 0;
  for (std::size_t begin = 0, i = 0; i < positions.size(); ++i) {
    if (i + 1 < positions.size() && at(i) == at(i + 1)) continue;
    if (i + 1 - begin > max_count) {
      max_count = i + 1 - begin;
      best = positions[i];
    }
    begin = i + 1;
  }
  return {best};
}

Result<Done> mode(KernelContext& c) { return pick(c, dimension_of(c), 0, 1, mode_position); }

}  // namespace

void add_sort_kernels(KernelTable& table) {
  for (const Op op : {Op::sort, Op::sort_stable}) table.add(op, sort);
  for (const Op op : {Op::argsort, Op::argsort_stable}) table.add(op, argsort);
  table.add(Op::msort, msort);
  table.add(Op::topk, topk);
  table.add(Op::kthvalue, kthvalue);
  table.add(Op::median, median<false>);
  table.add(Op::nanmedian, median<true>);
  table.add(Op::median_dim, median_along<false>);
  table.add(Op::nanmedian_dim, median_along<true>);
  table.add(Op::mode, mode);
}

}  // namespace recut

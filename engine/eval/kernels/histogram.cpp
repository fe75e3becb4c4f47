// Counts in bins.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"

namespace recut {
namespace {

struct Range {
  double low;
  double high;
};

// The given range; that of the data where it is empty; widened by `margin` where that is a point.
Result<Range> range_of(const Reals& values, Range range, double margin) {
  if (range.low == range.high && values.count() > 0) {
    const auto [low, high] = std::minmax_element(values.data.begin(), values.data.end());
    range = {*low, *high};
  }
  if (range.low == range.high) range = {range.low - margin, range.high + margin};
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high)
    return error("a histogram needs a finite range, from the smaller to the larger");
  return range;
}

// The bin of x, computed in the dtype as ATen does it, so that values on an edge fall the same way.
std::int64_t bin_of(double x, Range range, std::int64_t bins, DType dtype) {
  const double scaled = round_to(dtype, round_to(dtype, x - range.low) * static_cast<double>(bins));
  const double position = round_to(dtype, scaled / round_to(dtype, range.high - range.low));
  // The right edge belongs to the last bin, as does the overflow of a range as wide as the dtype.
  return position < static_cast<double>(bins) ? static_cast<std::int64_t>(position) : bins - 1;
}

Result<Done> histc(KernelContext& c) {
  const Reals self = c.reals("self");
  const DType dtype = c.output_types[0].dtype;
  const auto range = range_of(self, {c.call.scalar("min").real, c.call.scalar("max").real}, 1);
  if (!range) return range.diagnostics();
  Reals out(c.output_types[0].shape);
  for (const double x : self.data)
    if (x >= range->low && x <= range->high) out[bin_of(x, *range, out.count(), dtype)] += 1;
  c.write(out);
  return Done{};
}

Result<Reals> edges_of(const KernelContext& c, const Reals& self) {
  if (c.call.is_tensor("bins")) return c.reals("bins");
  Range range{0, 0};
  if (const auto* list = c.call.argument("range").get<ArgumentList>(); list && list->size() == 2)
    range = {Scalar::from((*list)[0])->real, Scalar::from((*list)[1])->real};
  range = {round_to(c.output_types[0].dtype, range.low),
           round_to(c.output_types[0].dtype, range.high)};
  const auto found = range_of(self, range, 0.5);
  if (!found) return found.diagnostics();
  const std::int64_t bins = c.call.integer("bins");
  Reals edges(Shape{bins + 1});
  for (std::int64_t i = 0; i <= bins; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bins);
    edges[i] = round_to(c.output_types[0].dtype, found->low + (found->high - found->low) * share);
  }
  return edges;
}

Result<Done> histogram(KernelContext& c) {
  const Reals self = c.reals("self");
  const auto edges = edges_of(c, self);
  if (!edges) return edges.diagnostics();
  const bool weighted = c.call.is_tensor("weight");
  const Reals weights = weighted ? c.reals("weight") : Reals();
  if (weighted && weights.count() != self.count())
    return error("one weight for each element is expected");
  Reals counts(Shape{edges->count() - 1});
  for (std::int64_t i = 0; i < self.count() && counts.count() > 0; ++i) {
    const auto& all = edges->data;
    if (!(self[i] >= all.front() && self[i] <= all.back())) continue;
    const auto above = std::upper_bound(all.begin(), all.end(), self[i]) - all.begin();
    counts[std::min<std::int64_t>(above - 1, counts.count() - 1)] += weighted ? weights[i] : 1;
  }
  double total = 0;
  for (const double x : counts.data) total += x;
  if (c.call.boolean("density"))
    for (std::int64_t i = 0; i < counts.count(); ++i)
      counts[i] /= total * ((*edges)[i + 1] - (*edges)[i]);
  c.write(counts, 0);
  c.write(*edges, 1);
  return Done{};
}

}  // namespace

void add_histogram_kernels(KernelTable& table) {
  table.add(Op::histc, histc);
  for (const Op op : {Op::histogram_bin_ct, Op::histogram_bins_tensor}) table.add(op, histogram);
}

}  // namespace recut

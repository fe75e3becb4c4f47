// Histograms of points with several coordinates, numpy's histogramdd.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {
namespace {

using Edges = std::vector<std::vector<double>>;  // by coordinate, ascending

// The range of coordinate d: as given, else the smallest and the largest value.
std::pair<double, double> range_of(const KernelContext& c, const Reals& points, std::int64_t d) {
  const std::int64_t width = points.shape.back();
  double low = 0;
  double high = 1;
  if (c.call.given("range")) {
    const ArgumentList& range = *c.call.argument("range").get<ArgumentList>();
    low = Scalar::from(range[static_cast<std::size_t>(2 * d)]).value_or(Scalar{}).real;
    high = Scalar::from(range[static_cast<std::size_t>(2 * d + 1)]).value_or(Scalar{}).real;
  } else if (points.count() > 0) {
    low = INFINITY;
    high = -INFINITY;
    for (std::int64_t i = d; i < points.count(); i += width) {
      low = std::min(low, points[i]);
      high = std::max(high, points[i]);
    }
  }
  if (low != high) return {low, high};
  return {low - 0.5, high + 0.5};
}

// Equal steps from both ends to the middle, each rounded to the dtype, as torch.linspace has them.
std::vector<double> equal_bins(DType dtype, double low, double high, std::int64_t bins) {
  std::vector<double> edges;
  const double step = round_to(dtype, (high - low) / static_cast<double>(bins));
  for (std::int64_t i = 0; i <= bins; ++i) {
    const double edge = i < (bins + 1) / 2 ? low + step * static_cast<double>(i)
                                           : high - step * static_cast<double>(bins - i);
    edges.push_back(round_to(dtype, edge));
  }
  return edges;
}

Edges edges_from_counts(const KernelContext& c, const Reals& points) {
  const auto bins = c.call.integers("bins");
  Edges edges;
  for (std::size_t d = 0; d < bins.size(); ++d) {
    const auto [low, high] = range_of(c, points, static_cast<std::int64_t>(d));
    edges.push_back(equal_bins(c.output_types[0].dtype, low, high, bins[d]));
  }
  return edges;
}

// The bin of a value; the last one includes its upper edge; -1 outside.
std::int64_t bin_of(const std::vector<double>& edges, double x) {
  if (edges.empty() || !(x >= edges.front() && x <= edges.back())) return -1;
  const auto above = std::upper_bound(edges.begin(), edges.end(), x);
  const auto bin = static_cast<std::int64_t>(above - edges.begin()) - 1;
  return std::min(bin, static_cast<std::int64_t>(edges.size()) - 2);
}

void to_density(Reals& histogram, const Edges& edges) {
  double total = 0;
  for (const double x : histogram.data) total += x;
  for (std::int64_t i = 0; i < histogram.count(); ++i) {
    double cell = total;
    std::int64_t rest = i;
    for (std::size_t d = edges.size(); d-- > 0;) {
      const auto at = static_cast<std::size_t>(rest % histogram.shape[d]);
      rest /= histogram.shape[d];
      cell *= edges[d][at + 1] - edges[d][at];
    }
    histogram[i] /= cell;
  }
}

Result<Done> count(KernelContext& c, const Reals& points, const Edges& edges) {
  Reals histogram(c.output_types[0].shape);
  const bool weighted = c.call.is_tensor("weight");
  const Reals weight = weighted ? c.reals("weight") : Reals();
  const auto width = static_cast<std::int64_t>(edges.size());
  const std::int64_t rows = width == 0 ? 0 : points.count() / width;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t cell = 0;
    for (std::int64_t d = 0; d < width && cell >= 0; ++d) {
      const std::int64_t bin = bin_of(edges[static_cast<std::size_t>(d)], points[i * width + d]);
      cell = bin < 0 ? -1 : cell * histogram.shape[static_cast<std::size_t>(d)] + bin;
    }
    if (cell >= 0 && cell < histogram.count()) histogram[cell] += weighted ? weight[i] : 1.0;
  }
  if (c.call.boolean("density")) to_density(histogram, edges);
  c.write(histogram);
  return Done{};
}

Result<Done> bin_edges(KernelContext& c) {
  const Edges edges = edges_from_counts(c, c.reals("self"));
  for (std::size_t d = 0; d < edges.size(); ++d) {
    Reals out(c.output_types[d].shape);
    std::copy(edges[d].begin(), edges[d].end(), out.data.begin());
    c.write(out, d);
  }
  return Done{};
}

Result<Done> from_counts(KernelContext& c) {
  const Reals points = c.reals("self");
  return count(c, points, edges_from_counts(c, points));
}

Result<Done> from_edges(KernelContext& c) {
  Edges edges;
  for (const NodeId id : c.call.nodes("bins")) edges.push_back(unpack<double>(c.tensor(id)).data);
  return count(c, c.reals("self"), edges);
}

}  // namespace

void add_histogramdd_kernels(KernelTable& t) {
  t.add(Op::_histogramdd_bin_edges, bin_edges);
  t.add(Op::_histogramdd_from_bin_cts, from_counts);
  t.add(Op::_histogramdd_from_bin_tensors, from_edges);
}

}  // namespace recut

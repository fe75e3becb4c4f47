// Histograms: the number or the weight of elements between bin edges. Elements may collide in a
// bin, so they are counted serially, in f64 scratch for every dtype.
#include <cmath>

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {
namespace {

constexpr std::int64_t kMaxCells = kMaxScratchBytes / 8;

struct Range {
  ScalarExpr low, high;
};

// Bin edges in ascending order, by their numbers 0 ... bins.
struct HistogramEdges {
  std::int64_t bins;
  std::function<ScalarExpr(const ScalarExpr&)> edge;

  ScalarExpr width(const ScalarExpr& bin) const { return edge(bin + 1.0) - edge(bin); }
};

class Histogram {
 public:
  explicit Histogram(const Nest& n) : nest(n), builder(n.lowering.builder()) {}

  const Nest& nest;
  Builder& builder;

  ScalarExpr real(double number) const { return nest.lowering.constant(DType::f64, number); }
  ScalarExpr rounded(const ScalarExpr& x) const {
    return nest.lowering.rounded(x, nest.type().dtype).to(DType::f64);
  }
  ScalarExpr element(std::string_view parameter, const Index& position) const {
    return nest.raw(parameter, delinearize(position, nest.shape_of(parameter), builder))
        .to(DType::f64);
  }

  // The range arguments of the call, if given.
  std::vector<double> given_range() const {
    std::vector<double> ends;
    const auto* list = nest.call.argument("range").get<ArgumentList>();
    if (list != nullptr)
      for (const Argument& end : *list) ends.push_back(Scalar::from(end).value_or(Scalar{}).real);
    return ends;
  }
  Range extremes(std::int64_t count, const std::function<ScalarExpr(const Indices&)>& value) const {
    return {reduce_range(nest.lowering, count, {"low", Combine::min, real(HUGE_VAL), value}),
            reduce_range(nest.lowering, count, {"high", Combine::max, real(-HUGE_VAL), value})};
  }
  // An empty range is widened by this much to both sides.
  static Range widened(const Range& range, double margin) {
    const ScalarExpr point = range.low == range.high;
    return {select(point, range.low - margin, range.low),
            select(point, range.high + margin, range.high)};
  }
  // The range of all elements where the given bounds are equal; a run-time fault where it is not
  // finite.
  Range range_of(double low, double high, double margin) const {
    const std::int64_t count = element_count(nest.shape_of("self"));
    Range range{real(low), real(high)};
    if (low == high && count > 0)
      range = extremes(count, [&](const Indices& k) { return element("self", k[0]); });
    range = widened(range, margin);
    const ScalarExpr sound =
        (abs(range.low) < HUGE_VAL) & (abs(range.high) < HUGE_VAL) & (range.low <= range.high);
    nest.checked((!sound).to(DType::i64), 1, false);
    return range;
  }

  // The bin of x, if any: binary search for the last edge that is at most x. The last bin includes
  // its right edge.
  struct Bin {
    ScalarExpr number, inside;
  };
  Bin find(const HistogramEdges& edges, const ScalarExpr& x) const {
    const ScalarExpr last = whole(edges.bins);
    ScalarExpr begin = whole(0), end = last + 1.0;
    for (std::int64_t left = edges.bins + 1; left > 0; left /= 2) {
      const ScalarExpr middle = begin + quotient(end - begin, 2.0);
      const ScalarExpr above = edges.edge(smaller(middle, last)) > x;
      const ScalarExpr open = begin < end;
      begin = select(open & (!above), middle + 1.0, begin);
      end = select(open & above, middle, end);
    }
    return {smaller(begin, last) - 1.0, (x >= edges.edge(whole(0))) & (x <= edges.edge(last))};
  }
  ScalarExpr whole(std::int64_t number) const {
    return ScalarExpr::constant(&builder, DType::i64, number);
  }

  // Calls body(k) for k below `count`, serially.
  void each(std::int64_t count, const std::function<void(const Index&)>& body) const {
    const std::size_t depth = builder.depth();
    body(builder.open_loop("n", count));
    builder.close_to(depth);
  }
  // Counts `elements`, each into a cell that it chooses, and writes the counts; for a density each
  // is divided by the total and by the size of its cell.
  void count(std::int64_t elements, const std::function<Bin(const Index&)>& cell_of,
             const std::function<ScalarExpr(const ScalarExpr&, const Index&)>& over_size) const {
    const std::int64_t cells = element_count(nest.type().shape);
    const Scratch counts(builder, "counts", DType::f64, cells);
    each(cells, [&](const Index& cell) { counts.write(cell, real(0)); });
    each(elements, [&](const Index& k) {
      const Bin found = cell_of(k);
      const std::size_t depth = builder.depth();
      builder.open_if(found.inside.id());
      const Index cell = nest.checked(found.number, cells, false);
      const ScalarExpr weight = nest.has("weight") ? element("weight", k) : real(1);
      counts.write(cell, counts.read(cell) + weight);
      builder.close_to(depth);
    });
    const bool density = nest.call.op().parameter("density") && nest.call.boolean("density");
    std::optional<ScalarExpr> total;
    if (density)
      total = reduce_range(nest.lowering, cells,
                           {"total", Combine::add, real(0),
                            [&](const Indices& cell) { return counts.read(cell[0]); }});
    each(cells, [&](const Index& cell) {
      const ScalarExpr count = counts.read(cell);
      nest.lowering.write(nest.output(), delinearize(cell, nest.type().shape, builder),
                          density ? count / over_size(*total, cell) : count);
    });
  }
};

// In a loop of one iteration: scratch belongs to iterations.
void once(const Nest& nest, const std::function<void()>& body) {
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  builder.open_any_loop("all", 1, Builder::Order::serial);
  body();
  builder.close_to(depth);
}

// Histograms of all elements
// --------------------------

// Bins are computed in the dtype, as in ATen, so that values on an edge fall into the same bin. If
// a range overflows the dtype, its values go to the last bin.
void histc(const Nest& nest) {
  const Histogram h(nest);
  const auto bins = static_cast<double>(nest.call.integer("bins"));
  once(nest, [&] {
    const Range range = h.range_of(nest.call.scalar("min").real, nest.call.scalar("max").real, 1);
    const auto bin_of = [&](const Index& k) {
      const ScalarExpr x = h.element("self", k);
      const ScalarExpr scaled = h.rounded(h.rounded(x - range.low) * bins);
      const ScalarExpr position = h.rounded(scaled / h.rounded(range.high - range.low));
      return Histogram::Bin{select(position < bins, position, position.like(bins - 1)),
                            (x >= range.low) & (x <= range.high)};
    };
    h.count(element_count(nest.shape_of("self")), bin_of,
            [](const ScalarExpr& total, const Index&) { return total; });
  });
}

// A number rounded to the dtype.
double in_dtype(double number, DType dtype) {
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(number)) : number;
}

HistogramEdges edges_of(const Histogram& h) {
  const Nest& nest = h.nest;
  if (nest.call.is_tensor("bins")) {
    const std::int64_t count = nest.shape_of("bins")[0];
    return {count - 1, [&nest, count](const ScalarExpr& number) {
              return nest.raw("bins", {nest.checked(number, count, false)}).to(DType::f64);
            }};
  }
  std::vector<double> ends = h.given_range();
  if (ends.size() != 2) ends = {0, 0};
  for (double& end : ends) end = in_dtype(end, nest.type().dtype);
  const Range range = h.range_of(ends[0], ends[1], 0.5);
  const std::int64_t bins = nest.call.integer("bins");
  return {bins, [&h, range, bins](const ScalarExpr& number) {
            const ScalarExpr share = number.to(DType::f64) / static_cast<double>(bins);
            return h.rounded(range.low + (range.high - range.low) * share);
          }};
}

void histogram(const Nest& nest) {
  const Histogram h(nest);
  once(nest, [&] {
    const HistogramEdges edges = edges_of(h);
    if (nest.is_requested(0) && edges.bins > 0)
      h.count(
          element_count(nest.shape_of("self")),
          [&](const Index& k) { return h.find(edges, h.element("self", k)); },
          [&](const ScalarExpr& total, const Index& bin) {
            return total * edges.width(nest.lowering.number(bin));
          });
    if (nest.is_requested(1))
      h.each(edges.bins + 1, [&](const Index& k) {
        nest.lowering.write(nest.output(1), {k}, edges.edge(nest.lowering.number(k)));
      });
  });
}

// Of points with several coordinates, numpy's histogramdd
// -------------------------------------------------------

struct Points {
  const Histogram& h;
  const Shape& shape;
  std::int64_t width, rows;

  explicit Points(const Histogram& histogram)
      : h(histogram),
        shape(h.nest.shape_of("self")),
        width(shape.back()),
        rows(width == 0 ? 0 : element_count(shape) / width) {}

  ScalarExpr coordinate(const Index& row, std::int64_t d) const {
    return h.element("self", width * row + Index(d));
  }
  // The outer bin edges: as given, else the minimum and the maximum, both of which skip NaN.
  Range range_of(std::int64_t d) const {
    const std::vector<double> ends = h.given_range();
    const auto at = static_cast<std::size_t>(2 * d);
    if (!ends.empty()) return Histogram::widened({h.real(ends[at]), h.real(ends[at + 1])}, 0.5);
    if (rows == 0) return {h.real(0), h.real(1)};
    const auto number = [&](double otherwise) {
      return [this, d, otherwise](const Indices& k) {
        const ScalarExpr x = coordinate(k[0], d);
        return select(is_nan(x), x.like(otherwise), x);
      };
    };
    return Histogram::widened(
        {h.extremes(rows, number(HUGE_VAL)).low, h.extremes(rows, number(-HUGE_VAL)).high}, 0.5);
  }
  // Equal steps from both ends to the middle, each rounded to the dtype, as in torch.linspace.
  HistogramEdges equal_bins(std::int64_t d, std::int64_t bins) const {
    const Range range = range_of(d);
    const ScalarExpr step{&h.builder,
                          h.rounded((range.high - range.low) / static_cast<double>(bins)).id()};
    return {bins, [this, range, step, bins](const ScalarExpr& number) {
              const ScalarExpr i = number.to(DType::f64);
              const ScalarExpr from_end = range.high - step * (static_cast<double>(bins) - i);
              return h.rounded(
                  select(i < static_cast<double>((bins + 1) / 2), range.low + step * i, from_end));
            }};
  }
  std::vector<HistogramEdges> by_counts() const {
    std::vector<HistogramEdges> all;
    for (const std::int64_t bins : h.nest.call.integers("bins"))
      all.push_back(equal_bins(static_cast<std::int64_t>(all.size()), bins));
    return all;
  }
  std::vector<HistogramEdges> by_edges() const {
    std::vector<HistogramEdges> all;
    for (const NodeId id : h.nest.call.nodes("bins")) {
      const std::int64_t count = h.nest.call.tensor(id).shape[0];
      all.push_back({count - 1, [this, id, count](const ScalarExpr& number) {
                       const Index at = h.nest.checked(number, count, false);
                       return h.nest.lowering.element(id, {at}).to(DType::f64);
                     }});
    }
    return all;
  }

  void count(const std::vector<HistogramEdges>& edges) const {
    const auto cell_of = [&](const Index& row) {
      Histogram::Bin cell{h.whole(0), ScalarExpr::constant(&h.builder, DType::boolean, 1.0)};
      for (std::size_t d = 0; d < edges.size(); ++d) {
        const auto bin = h.find(edges[d], coordinate(row, static_cast<std::int64_t>(d)));
        cell.number = cell.number * static_cast<double>(edges[d].bins) + bin.number;
        cell.inside = cell.inside & bin.inside;
      }
      return cell;
    };
    h.count(rows, cell_of, [&](ScalarExpr size, const Index& cell) {
      const Indices at = delinearize(cell, h.nest.type().shape, h.builder);
      for (std::size_t d = edges.size(); d-- > 0;)
        size = size * edges[d].width(h.nest.lowering.number(at[d]));
      return size;
    });
  }
};

void bin_edges(const Nest& nest) {
  const Histogram h(nest);
  const Points points(h);
  const std::vector<HistogramEdges> all = points.by_counts();
  for (std::size_t d = 0; d < all.size(); ++d)
    if (nest.is_requested(d))
      h.each(all[d].bins + 1, [&](const Index& k) {
        nest.lowering.write(nest.output(d), {k}, all[d].edge(nest.lowering.number(k)));
      });
}

void from_counts(const Nest& nest) {
  const Histogram h(nest);
  const Points points(h);
  once(nest, [&] { points.count(points.by_counts()); });
}

void from_edges(const Nest& nest) {
  const Histogram h(nest);
  const Points points(h);
  once(nest, [&] { points.count(points.by_edges()); });
}

// Refusals
// --------

std::optional<std::string> other_numbers(const Call& call) {
  const DType dtype = call.tensor("self").dtype;
  if (dtype == DType::f32 || dtype == DType::f64) return std::nullopt;
  return "elements that are neither f32 nor f64";
}

std::optional<std::string> many(std::int64_t cells) {
  if (cells <= kMaxCells) return std::nullopt;
  return "more than 20480 cells";
}

std::optional<std::string> many_bins(const Call& call) {
  const bool given = call.is_tensor("bins");
  const auto why = many(given ? call.tensor("bins").shape[0] : call.integer("bins"));
  return why ? why : other_numbers(call);
}

std::optional<std::string> many_cells(const Call& call) {
  std::int64_t cells = 1;
  if (call.op().op == Op::_histogramdd_from_bin_tensors)
    for (const NodeId id : call.nodes("bins")) cells *= call.tensor(id).shape[0] - 1;
  else
    cells = element_count(call.integers("bins"));
  if (cells == 0) return "no cells";
  const auto why = many(cells);
  return why ? why : other_numbers(call);
}

}  // namespace

void add_histogram_nests(NestTable& table) {
  for (const Op op : {Op::histogram_bin_ct, Op::histogram_bins_tensor})
    table.push_back({op, histogram, many_bins});
  table.push_back({Op::histc, histc, many_bins});
  table.push_back({Op::_histogramdd_bin_edges, bin_edges, other_numbers});
  table.push_back({Op::_histogramdd_from_bin_cts, from_counts, many_cells});
  table.push_back({Op::_histogramdd_from_bin_tensors, from_edges, many_cells});
}

}  // namespace recut::loop

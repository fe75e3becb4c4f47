// A reduction is a group of loops over kept dimensions around one over reduced dimensions. For a
// sum over the last dimension of [i, j, k]:
//   parallel for i*j { acc = 0; for k in lanes { acc += term }; write acc }
// Rows that are contiguous in memory get lanes inside, which are partial sums. Otherwise the lanes
// go along the kept dimensions, and neighbouring results are computed side by side. For groups of
// threads (group_lanes) all reduced dimensions are one loop. On CPUs the lanes of a sum depend on
// its shape alone, never on the vector width, so its bits are the same on all of them.
//
// Loops over adjacent dimensions are collapsed where that adds no division to an index
// (Lowering::merge_loops): the body is generated once for each attempt.
#include "engine/codegen/lower/reduction_loops.h"

#include <algorithm>

#include "engine/fusion/row_fusion.h"

namespace recut::loop {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

// Dimensions in descending order of their strides.
std::vector<std::size_t> ordered(const ReductionSpace& space, bool reduced) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < space.shape.size(); ++d)
    if (space.reduced[d] == reduced) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) {
    return space.strides[a] > space.strides[b];
  });
  return dims;
}

// Adjacent dimensions whose boundary is merged, as one group.
Groups grouped(const std::vector<std::size_t>& dims, const std::vector<bool>& merged,
               std::size_t first_boundary) {
  Groups groups;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    if (n == 0 || !merged[first_boundary + n - 1]) groups.emplace_back();
    groups.back().push_back(dims[n]);
  }
  return groups;
}

std::size_t boundaries(const std::vector<std::size_t>& dims) {
  return dims.empty() ? 0 : dims.size() - 1;
}

std::int64_t extent_of(const ReductionSpace& space, const std::vector<std::size_t>& group) {
  std::int64_t extent = 1;
  for (const std::size_t d : group) extent *= space.shape[d];
  return extent;
}

}  // namespace

void Reducer::open(const Groups& groups, Indices& at, Builder::Order order,
                   std::int64_t lanes_of_last) {
  static const char* const kNames[] = {"i", "j", "k", "l", "m", "n"};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Shape together;
    for (const std::size_t d : groups[g]) together.push_back(space_.shape[d]);
    const std::int64_t extent = element_count(together);
    const Index variable = lowering_.builder().open_loop(
        kNames[std::min<std::size_t>(groups[g].front(), 5)], extent, order,
        g + 1 == groups.size() && extent > 1 ? lanes_of_last : 1);
    if (extent > 1) order = Builder::Order::serial;
    const Indices parts = delinearize(variable, together, lowering_.builder());
    for (std::size_t n = 0; n < parts.size(); ++n) at[groups[g][n]] = parts[n];
  }
}

std::int64_t Reducer::extent_of_last() const {
  return groups_.empty() ? 1 : extent_of(space_, groups_.back());
}

std::int64_t Reducer::count() const {
  std::int64_t count = 1;
  for (const auto& group : groups_) count *= extent_of(space_, group);
  return count;
}

std::vector<ScalarExpr> Reducer::reduce(std::vector<Accumulation> reductions,
                                        const std::function<void(const Indices&)>& also) {
  Builder& builder = lowering_.builder();
  const std::int64_t lanes = lanes_of_sum_;
  std::vector<AccumulatorId> accumulators;
  for (const Accumulation& f : reductions)
    accumulators.push_back(builder.accumulator(f.name, f.how, f.initial.id(), lanes));
  const std::size_t depth = builder.depth();
  Indices at = at_;
  open(groups_, at, Builder::Order::serial, lanes);
  for (std::size_t n = 0; n < reductions.size(); ++n)
    builder.update(accumulators[n], reductions[n].term(at).to(reductions[n].initial.type()).id());
  if (also) also(at);
  builder.close_to(depth);
  std::vector<ScalarExpr> results;
  for (const AccumulatorId accumulator : accumulators)
    results.emplace_back(&builder, builder.read(accumulator));
  return results;
}

ScalarExpr Reducer::reduce(Accumulation one) {
  return reduce(std::vector<Accumulation>{std::move(one)}).front();
}

void Reducer::for_each(const std::function<void(const Indices&)>& body) {
  Builder& builder = lowering_.builder();
  const std::size_t depth = builder.depth();
  Indices at = at_;
  open(groups_, at, Builder::Order::serial, lanes_inside_ ? lanes_for(extent_of_last()) : 1);
  body(at);
  builder.close_to(depth);
}

// The lanes of one sum that a group of threads computes in a single loop over all terms; 1 where it
// does not.
std::int64_t Reducer::lanes_of_group(const Lowering& lowering, const ReductionSpace& space,
                                     Columns columns) {
  const std::int64_t terms = extent_of(space, ordered(space, true));
  const std::int64_t sums = extent_of(space, ordered(space, false));
  const std::int64_t most = lowering.options.group_lanes;
  if (most == 0) return 1;
  if (rows_lie_together({space.shape, space.reduced}, space.strides))
    return lanes_for_group(terms, sums, most);
  return columns == Columns::shared
             ? lanes_for_columns(terms, sums, most, lowering.options.column_threads)
             : 1;
}

bool shares_columns(const Lowering& lowering, const ReductionSpace& space) {
  return !rows_lie_together({space.shape, space.reduced}, space.strides) &&
         Reducer::lanes_of_group(lowering, space, Reducer::Columns::shared) > 1;
}

void Reducer::run(Lowering& lowering, const ReductionSpace& space, Columns columns,
                  const std::function<void(Reducer&)>& body) {
  const std::vector<std::size_t> kept = ordered(space, false);
  const std::vector<std::size_t> reduced = ordered(space, true);
  const bool inside = rows_lie_together({space.shape, space.reduced}, space.strides);
  const std::int64_t lanes = lanes_of_group(lowering, space, columns);
  const bool whole = lanes > 1;
  lowering.merge_loops(
      boundaries(kept) + (whole ? 0 : boundaries(reduced)), [&](const std::vector<bool>& merged) {
        Reducer reducer(lowering, space);
        const Groups outside = grouped(kept, merged, 0);
        reducer.groups_ = whole ? Groups{reduced} : grouped(reduced, merged, boundaries(kept));
        reducer.lanes_inside_ = inside;
        const std::int64_t extent = reducer.extent_of_last();
        reducer.lanes_of_sum_ = whole ? lanes : inside && extent > 1 ? lanes_for_sum(extent) : 1;
        reducer.at_.assign(space.shape.size(), 0);
        const std::size_t depth = lowering.builder().depth();
        const std::int64_t last = outside.empty() ? 1 : extent_of(space, outside.back());
        reducer.open(outside, reducer.at_, Builder::Order::parallel,
                     inside || whole ? 1 : lanes_for(last));
        body(reducer);
        lowering.builder().close_to(depth);
      });
}

void for_each_ordered_reduction(Lowering& lowering, const ReductionSpace& space,
                                const std::function<void(Reducer&)>& body) {
  Reducer::run(lowering, space, Reducer::Columns::in_order, body);
}

void for_each_reduction(Lowering& lowering, const ReductionSpace& space,
                        const std::function<void(Reducer&)>& body) {
  Reducer::run(lowering, space, Reducer::Columns::shared, body);
}

ScalarExpr reduce_range(Lowering& lowering, std::int64_t count, const Accumulation& one) {
  Builder& builder = lowering.builder();
  const std::int64_t lanes = lanes_for_sum(count);
  const AccumulatorId total = builder.accumulator(one.name, one.how, one.initial.id(), lanes);
  const std::size_t depth = builder.depth();
  const Index k = builder.open_loop("k", count, Builder::Order::serial, lanes);
  builder.update(total, one.term({k}).to(one.initial.type()).id());
  builder.close_to(depth);
  return {&builder, builder.read(total)};
}

Strides walking_strides(Lowering& lowering, NodeId id) {
  const ViewMap& view_map = lowering.view_map(id);
  if (view_map.layouts.size() == 1) return view_map.layouts.front().strides;
  return contiguous_strides(view_map.shape());
}

}  // namespace recut::loop

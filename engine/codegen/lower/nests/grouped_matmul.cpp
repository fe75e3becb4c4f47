// _grouped_mm: the groups divide the rows of self, the columns of mat2, or the dimension that both
// share. In the first two forms each element of the result looks for its group, and sums as in any
// product. In the third a block of scratch collects a group's products, as long as it has some:
//   parallel for group, row { sums = 0; for k of group { sums += self[row, k] * mat2[k, lanes] } }
#include "engine/codegen/lower/nests/grouped_matmul.h"

#include <algorithm>

#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {
namespace {

// The groups of a dimension of this size.
struct GroupEnds {
  const Nest& nest;
  std::int64_t size;

  std::int64_t count() const { return nest.shape_of("offs")[0]; }
  ScalarExpr whole(std::int64_t number) const {
    return ScalarExpr::constant(&nest.lowering.builder(), DType::i64, number);
  }
  ScalarExpr end(const Index& group) const { return nest.raw("offs", {group}).to(DType::i64); }
  ScalarExpr begin(const Index& group) const {
    const ScalarExpr number = nest.lowering.number(group);
    const ScalarExpr first = number == 0.0;
    const Index before = nest.checked(select(first, whole(0), number - 1.0), count(), false);
    return select(first, whole(0), end(before));
  }

  // No group ends before it begins, nor behind the dimension.
  void check() const {
    Builder& builder = nest.lowering.builder();
    const std::size_t depth = builder.depth();
    const Index group = builder.open_any_loop("g", count(), Builder::Order::parallel);
    nest.checked(end(group), size + 1, false);
    nest.checked(end(group) - begin(group), size + 1, false);
    builder.close_to(depth);
  }

  // The number of groups that end before this position or at it: the group of the position, or
  // their count where it is behind all of them.
  ScalarExpr of(const Index& position) const {
    Builder& builder = nest.lowering.builder();
    const AccumulatorId sum = builder.accumulator("group", Combine::add, whole(0).id(), 1);
    const std::size_t depth = builder.depth();
    const Index group = builder.open_loop("g", count());
    const ScalarExpr is_before = end(group) <= nest.lowering.number(position);
    builder.update(sum, is_before.to(DType::i64).id());
    builder.close_to(depth);
    return {&builder, builder.read(sum)};
  }
};

// The groups divide dimension `divided` of the result: 0, its rows, or 1, its columns.
void multiply_lines(const Nest& nest, const GroupEnds& groups, std::size_t divided) {
  const Strides left = walking_strides(nest.lowering, nest.call.node("self"));
  const Strides right = walking_strides(nest.lowering, nest.call.node("mat2"));
  const std::size_t a = left.size() - 2, b = right.size() - 2;
  const Shape& out = nest.type().shape;
  const ReductionSpace space{
      {out[0], out[1], nest.shape_of("self").back()},
      {false, false, true},
      {left[a] + right[b] + left[a + 1], right[b + 1], left[a + 1] + right[b]}};
  const DType type = nest.computing(nest.type().dtype);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const Indices at{reducer.at()[0], reducer.at()[1]};
    const ScalarExpr group = groups.of(at[divided]);
    const ScalarExpr is_grouped = group < static_cast<double>(groups.count());
    const Index matrix =
        nest.checked(select(is_grouped, group, groups.whole(0)), groups.count(), false);
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& i) {
           Indices rows{i[0], i[2]}, columns{i[2], i[1]};
           Indices& batch = divided == 0 ? columns : rows;
           batch.insert(batch.begin(), matrix);
           const ScalarExpr x = nest.raw("self", rows).to(type);
           return x * nest.raw("mat2", columns).to(type);
         }});
    nest.lowering.write(nest.output(), at, select(is_grouped, sum, sum.like(0)));
  });
}

// A block of columns of the result, from `first` on, for each group and row.
class ColumnBlock {
 public:
  ColumnBlock(const Iteration& w, const GroupEnds& g, std::int64_t width)
      : work(w),
        groups(g),
        type_(w.nest.computing(w.nest.type().dtype)),
        width_(width),
        sums_(w.builder, "sums", type_, width),
        done_(w.builder, "done", DType::i64, 1) {}

  void multiply(const Index& group, const Index& row, const Index& first) const {
    const Nest& nest = work.nest;
    each_column([&](const Index& j) { sums_.write(j, nest.lowering.constant(type_, 0)); });
    const ScalarExpr begin = emitted(groups.begin(group));
    const ScalarExpr size = emitted(groups.end(group) - begin);
    done_.write(0, groups.whole(0));
    work.each_while(
        groups.size, [&] { return done_.read(0) < size; },
        [&](const Index& step) {
          done_.write(0, nest.lowering.number(step) + 1.0);
          const Index k = nest.checked(begin + nest.lowering.number(step), groups.size, false);
          const ScalarExpr x = emitted(nest.raw("self", {row, k}).to(type_));
          each_column([&](const Index& j) {
            const ScalarExpr product = x * nest.raw("mat2", {k, first + j}).to(type_);
            sums_.write(j, sums_.read(j) + product);
          });
        });
    each_column([&](const Index& j) {
      nest.lowering.write(nest.output(), {group, row, first + j}, sums_.read(j));
    });
  }

 private:
  ScalarExpr emitted(const ScalarExpr& value) const { return {&work.builder, value.id()}; }
  void each_column(const std::function<void(const Index&)>& body) const {
    const std::size_t depth = work.builder.depth();
    body(work.builder.open_loop("j", width_, Builder::Order::serial, lanes_for(width_)));
    work.builder.close_to(depth);
  }

  const Iteration& work;
  const GroupEnds& groups;
  const DType type_;
  const std::int64_t width_;
  const Scratch sums_, done_;
};

// Whole blocks of columns, then the rest of them.
void multiply_depths(const Nest& nest, const GroupEnds& groups) {
  constexpr std::int64_t kColumns = 2048;
  const Iteration work(nest);
  const Shape& out = nest.type().shape;
  for (std::int64_t first = 0; first < out[2];) {
    const std::int64_t width = std::min(kColumns, out[2] - first);
    const std::int64_t blocks = (out[2] - first) / width;
    const std::size_t depth = work.builder.depth();
    const Index i =
        work.builder.open_any_loop("i", out[0] * out[1] * blocks, Builder::Order::parallel);
    const Indices at = delinearize(i, {out[0], out[1], blocks}, work.builder);
    ColumnBlock(work, groups, width).multiply(at[0], at[1], width * at[2] + Index(first));
    work.builder.close_to(depth);
    first += blocks * width;
  }
}

}  // namespace

void multiply_groups(const Nest& nest) {
  const Shape& left = nest.shape_of("self");
  const Shape& right = nest.shape_of("mat2");
  const bool by_rows = right.size() == 3, by_columns = left.size() == 3;
  const GroupEnds groups{nest, by_rows ? left[0] : by_columns ? right[1] : left[1]};
  if (groups.count() > 0) groups.check();
  if (element_count(left) == 0 || element_count(right) == 0) return write_zeros(nest);
  if (by_rows || by_columns) return multiply_lines(nest, groups, by_rows ? 0 : 1);
  multiply_depths(nest, groups);
}

}  // namespace recut::loop

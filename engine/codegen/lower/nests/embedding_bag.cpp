// embedding_bag: bags are parallel, and each sums the rows of its own indices in scratch. In the
// gradients columns are parallel, and updates that may collide run serially.
#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {
namespace {

enum class BagMode : std::int64_t { sum, mean, largest };  // as ATen numbers them

BagMode mode_of(const Call& call) { return static_cast<BagMode>(call.integer("mode")); }

// The offsets of bags; there may be one more for the end of the last bag.
struct Bags {
  const Nest& nest;
  std::int64_t bags, indices;

  std::int64_t offsets() const { return nest.shape_of("offsets")[0]; }
  ScalarExpr whole(std::int64_t number) const {
    return ScalarExpr::constant(&nest.lowering.builder(), DType::i64, number);
  }
  ScalarExpr offset(const Index& bag) const { return nest.raw("offsets", {bag}).to(DType::i64); }
  ScalarExpr end_of_last() const { return offsets() > bags ? offset(Index(bags)) : whole(indices); }

  ScalarExpr begin(const Index& bag) const {
    return nest.lowering.number(nest.checked(offset(bag), indices + 1, false));
  }
  ScalarExpr end(const Index& bag) const {
    const ScalarExpr last = nest.lowering.number(bag) == static_cast<double>(bags - 1);
    const Index next =
        nest.checked(select(last, whole(0), nest.lowering.number(bag) + 1.0), bags, false);
    const ScalarExpr end = select(last, end_of_last(), offset(next));
    return nest.lowering.number(nest.checked(end, indices + 1, false));
  }

  // The bag of an index by binary search, or -1: the last offset that is at most the index.
  ScalarExpr bag_of(const Index& index) const {
    const ScalarExpr at = nest.lowering.number(index);
    ScalarExpr below = whole(0), above = whole(bags);
    for (std::int64_t left = bags; left > 0; left /= 2) {
      const ScalarExpr middle = below + quotient(above - below, 2.0);
      const Index readable =
          nest.checked(smaller(middle, static_cast<double>(bags - 1)), bags, false);
      const ScalarExpr open = below < above;
      const ScalarExpr begun = offset(readable) <= at;
      below = select(open & begun, middle + 1.0, below);
      above = select(open & !begun, middle, above);
    }
    return select(at < end_of_last(), below - 1.0, whole(-1));
  }
};

// Forward
// -------

// On GPUs PyTorch gives these lists empty or with spare elements, which are 0.
void clear_spare_positions(const Nest& nest, std::size_t output, std::int64_t count) {
  if (!nest.is_requested(output) || element_count(nest.type(output).shape) == count) return;
  nest.lowering.for_each(nest.type(output).shape, {}, [&](const Indices& at) {
    nest.lowering.write(nest.output(output), at, nest.lowering.constant(DType::i64, 0));
  });
}

// Writes an element of an output list at a flat index, unless the list is too short. `count`
// elements come in all.
void write_in_list(const Iteration& work, std::size_t output, const Index& flat, std::int64_t count,
                   const ScalarExpr& value) {
  const Nest& nest = work.nest;
  if (!nest.is_requested(output)) return;
  const Shape& shape = nest.type(output).shape;
  const std::int64_t positions = element_count(shape);
  const std::size_t depth = work.builder.depth();
  if (positions < count)
    work.builder.open_if((nest.lowering.number(flat) < static_cast<double>(positions)).id());
  nest.lowering.write(nest.output(output), delinearize(flat, shape, work.builder), value);
  work.builder.close_to(depth);
}

// The row of one bag, in scratch.
class BagRow {
 public:
  explicit BagRow(const Iteration& w)
      : work(w),
        mode_(mode_of(w.nest.call)),
        width_(w.nest.shape_of("weight")[1]),
        type_(w.nest.computing(w.nest.type().dtype)),
        values_(w.builder, "values", type_, width_),
        size_(w.builder, "size", DType::i64, 1) {
    if (mode_ == BagMode::largest) rows_.emplace(w.builder, "rows", DType::i64, width_);
  }

  void clear() const {
    size_.write(0, whole(0));
    each_column([&](const Index& j) {
      values_.write(j, work.nest.lowering.constant(type_, 0));
      if (rows_) rows_->write(j, whole(0));
    });
  }

  void take(const Index& row, const std::optional<ScalarExpr>& scale) const {
    size_.write(0, size_.read(0) + 1.0);
    const ScalarExpr first = size_.read(0) == 1.0;
    each_column([&](const Index& j) {
      const ScalarExpr x = work.nest.real("weight", {row, j}).to(type_);
      const ScalarExpr own = values_.read(j);
      if (!rows_) return values_.write(j, own + (scale ? *scale * x : x));
      const ScalarExpr takes_over = first | (x > own);
      values_.write(j, select(takes_over, x, own));
      rows_->write(j, select(takes_over, work.nest.lowering.number(row), rows_->read(j)));
    });
  }

  std::int64_t listed(std::int64_t bags) const { return rows_ ? bags * width_ : bags; }

  void write(const Index& bag, std::int64_t bags) const {
    const Nest& nest = work.nest;
    const ScalarExpr size = size_.read(0);
    const ScalarExpr count = larger(size, 1.0).to(type_);
    each_column([&](const Index& j) {
      const ScalarExpr value = values_.read(j);
      if (nest.is_requested(0))
        nest.lowering.write(nest.output(0), {bag, j},
                            mode_ == BagMode::mean ? value / count : value);
      if (rows_) write_in_list(work, 3, width_ * bag + j, listed(bags), rows_->read(j));
    });
    write_in_list(work, 2, bag, bags, size);
    if (!rows_) write_in_list(work, 3, bag, bags, size);
  }

 private:
  ScalarExpr whole(std::int64_t number) const {
    return ScalarExpr::constant(&work.builder, DType::i64, number);
  }
  void each_column(const std::function<void(const Index&)>& body) const {
    const std::size_t depth = work.builder.depth();
    body(work.builder.open_loop("j", width_, Builder::Order::serial, lanes_for(width_)));
    work.builder.close_to(depth);
  }

  const Iteration& work;
  const BagMode mode_;
  const std::int64_t width_;
  const DType type_;
  const Scratch values_, size_;
  std::optional<Scratch> rows_;
};

// The rows of one bag, but for padding.
void take_all(const Iteration& work, const Bags& bags, const Index& bag, const BagRow& row) {
  const Nest& nest = work.nest;
  Builder& builder = work.builder;
  const double padding = static_cast<double>(nest.call.integer("padding_idx"));
  const ScalarExpr begin{&builder, bags.begin(bag).id()};
  const ScalarExpr size = bags.end(bag) - begin;
  const ScalarExpr count = nest.lowering.number(nest.checked(size, bags.indices + 1, false));
  const Scratch taken(builder, "taken", DType::i64, 1);
  taken.write(0, bags.whole(0));
  work.each_while(
      bags.indices, [&] { return taken.read(0) < count; },
      [&](const Index& k) {
        taken.write(0, nest.lowering.number(k) + 1.0);
        const Index at = nest.checked(begin + nest.lowering.number(k), bags.indices, false);
        const Index of = nest.checked(nest.raw("indices", {at}), nest.shape_of("weight")[0], false);
        work.when(nest.lowering.number(of) != padding, [&] {
          std::optional<ScalarExpr> scale;
          if (nest.has("per_sample_weights"))
            scale.emplace(&builder, nest.real("per_sample_weights", {at}).id());
          row.take(of, scale);
        });
      });
}

void embedding_bag(const Nest& nest) {
  const Iteration work(nest);
  Builder& builder = nest.lowering.builder();
  const Bags bags{nest, nest.type().shape[0], nest.shape_of("indices")[0]};
  const BagRow row(work);
  clear_spare_positions(nest, 1, bags.indices);
  clear_spare_positions(nest, 2, bags.bags);
  clear_spare_positions(nest, 3, row.listed(bags.bags));
  const std::size_t depth = builder.depth();
  const Index bag = builder.open_any_loop("b", bags.bags, Builder::Order::parallel);
  row.clear();
  take_all(work, bags, bag, row);
  row.write(bag, bags.bags);
  builder.close_to(depth);
  const Index i = builder.open_loop("i", bags.indices, Builder::Order::parallel);
  write_in_list(work, 1, i, bags.indices, bags.bag_of(i));
  builder.close_to(depth);
}

std::optional<std::string> no_bags(const Call& call) {
  const Shape& weight = call.tensor("weight").shape;
  if (call.tensor("indices").rank() != 1) return "indices of two dimensions";
  if (weight[1] * 16 + 64 > kMaxScratchBytes) return "rows that don't fit into scratch";
  if (call.tensor("offsets").shape[0] == 0 || weight[0] == 0) return "no rows or bags at all";
  return std::nullopt;
}

// Gradients
// ---------

// Columns are parallel: each visits all indices.
void weight_backward(const Nest& nest) {
  const std::int64_t width = nest.type().shape[1], rows = nest.type().shape[0];
  const Shape& grad = nest.shape_of("grad");
  const DType type = nest.computing(nest.type().dtype);
  const BagMode mode = mode_of(nest.call);
  Builder& builder = nest.lowering.builder();
  nest.lowering.for_each(nest.type().shape, {}, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.lowering.constant(type, 0));
  });
  const bool largest = mode == BagMode::largest;
  const std::int64_t count = largest ? grad[0] : nest.shape_of("indices")[0];
  const std::size_t depth = builder.depth();
  const Index j = builder.open_loop("j", width, Builder::Order::parallel, lanes_for(width));
  const Index n = builder.open_loop("n", count);
  const Index bag = largest ? n : nest.checked(nest.raw("offset2bag", {n}), grad[0], false);
  const ScalarExpr named = largest ? nest.raw("maximum_indices", {n, j}) : nest.raw("indices", {n});
  const Index row = nest.checked(named, rows, false);
  const ScalarExpr size = nest.raw("bag_size", {bag}).to(DType::i64);
  const double padding = static_cast<double>(nest.call.integer("padding_idx"));
  builder.open_if((largest ? size > 0.0 : nest.lowering.number(row) != padding).id());
  ScalarExpr g = nest.real("grad", {bag, j}).to(type);
  if (!largest && nest.has("per_sample_weights"))
    g = g * nest.real("per_sample_weights", {n}).to(type);
  if (mode == BagMode::mean) g = g / larger(size, 1.0).to(type);
  nest.lowering.combine_into(nest.output(), {row, j}, Combine::add, g);
  builder.close_to(depth);
}

std::optional<std::string> by_frequency_embedding_bag(const Call& call) {
  if (call.boolean("scale_grad_by_freq")) return "gradients that are scaled by frequency";
  const Shape& grad = call.tensor("grad").shape;
  const bool largest = mode_of(call) == BagMode::largest;
  if (largest && call.tensor("maximum_indices").shape != grad) return "such a list of the largest";
  if (call.tensor("bag_size").shape[0] < grad[0]) return "fewer sizes than bags";
  if (!largest && call.tensor("offset2bag").shape != call.tensor("indices").shape)
    return "such a list of bags";
  return std::nullopt;
}

// The product of an index' row with its bag's gradient.
void sample_backward_embedding_bag(const Nest& nest) {
  const std::int64_t width = nest.shape_of("weight")[1];
  const std::int64_t grads = nest.shape_of("grad")[0];
  const Bags bags{nest, std::min(nest.shape_of("offsets")[0], grads), nest.type().shape[0]};
  const DType type = nest.computing(nest.type().dtype);
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", bags.indices, Builder::Order::parallel);
  const ScalarExpr bag{&builder, bags.bag_of(i).id()};
  const Index row = nest.checked(nest.raw("indices", {i}), nest.shape_of("weight")[0], false);
  const double padding = static_cast<double>(nest.call.integer("padding_idx"));
  const ScalarExpr counts = (bag >= 0.0) & (nest.lowering.number(row) != padding);
  const Index of = nest.checked(larger(bag, 0.0), grads, false);
  const std::int64_t lanes = lanes_for_sum(width);
  const AccumulatorId sum =
      builder.accumulator("sum", Combine::add, nest.lowering.constant(type, 0).id(), lanes);
  const std::size_t inside = builder.depth();
  const Index j = builder.open_loop("j", width, Builder::Order::serial, lanes);
  builder.update(
      sum, (nest.real("grad", {of, j}).to(type) * nest.real("weight", {row, j}).to(type)).id());
  builder.close_to(inside);
  const ScalarExpr product{&builder, builder.read(sum)};
  nest.lowering.write(nest.output(), {i}, select(counts, product, product.like(0)));
  builder.close_to(depth);
}

}  // namespace

void add_embedding_bag_nests(NestTable& table) {
  for (const Op op : {Op::_embedding_bag, Op::_embedding_bag_forward_only})
    table.push_back({op, embedding_bag, no_bags});
  table.push_back({Op::_embedding_bag_dense_backward, weight_backward, by_frequency_embedding_bag});
  table.push_back(
      {Op::_embedding_bag_per_sample_weights_backward, sample_backward_embedding_bag, no_bags});
}

}  // namespace recut::loop

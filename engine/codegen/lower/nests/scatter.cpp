// Scatters: writes to indices that are data. Indices may collide, so only elements that stay apart
// (the columns of a table) run in parallel. Colliding ones run serially in the order of the
// indices: the same bits everywhere, without atomics.
#include "engine/codegen/lower/advanced_index.h"
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// Embedding gradients: rows of grad_output are added to the rows that the indices name. Columns are
// parallel: each visits all indices.
void embedding_backward(const Nest& nest) {
  write_zeros(nest);
  const Shape& positions = nest.shape_of("indices");
  const std::int64_t width = nest.type().shape[1];
  const std::int64_t padding = nest.call.integer("padding_idx");
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index column = builder.open_loop("j", width, Builder::Order::parallel, lanes_for(width));
  const Index number = builder.open_loop("n", element_count(positions));
  const Indices at = delinearize(number, positions, builder);
  const Index row = nest.checked(nest.raw("indices", at), nest.type().shape[0], false);
  if (padding >= 0)
    builder.open_if((nest.lowering.number(row) != static_cast<double>(padding)).id());
  Indices from = at;
  from.push_back(column);
  nest.lowering.combine_into(nest.output(), {row, column}, Combine::add,
                             nest.raw("grad_output", from));
  builder.close_to(depth);
}

std::optional<std::string> by_frequency_scatter(const Call& call) {
  if (call.boolean("scale_grad_by_freq")) return "gradients that are scaled by frequency";
  return std::nullopt;
}

// Calls put(from, to) for each element of `index` and the position that it names. Lines along `dim`
// stay apart; positions of one line may collide, and are visited in order.
void for_each_named(const Nest& nest,
                    const std::function<void(const Indices&, const Indices&)>& put) {
  const Shape &index = nest.shape_of("index"), &target = nest.type().shape;
  const Shape shape = atleast_1d(index);
  const std::size_t dim = nest.dimension("dim", shape.size());
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  Shape lines = shape;
  lines[dim] = 1;
  const Index line = builder.open_loop("i", element_count(lines), Builder::Order::parallel);
  Indices from = delinearize(line, lines, builder);
  from[dim] = builder.open_loop("n", shape[dim]);
  Indices to = from;
  const ScalarExpr named = nest.raw("index", index_in(index, from));
  to[dim] = nest.checked(named, atleast_1d(target)[dim], false);
  put(from, index_in(target, to));
  builder.close_to(depth);
}

ScalarExpr source(const Nest& nest, const Indices& from) {
  return nest.raw("src", index_in(nest.shape_of("src"), from));
}

void copy_self(const Nest& nest) {
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.raw("self", at));
  });
}

void scatter_add(const Nest& nest) {
  copy_self(nest);
  for_each_named(nest, [&](const Indices& from, const Indices& to) {
    nest.lowering.combine_into(nest.output(), to, Combine::add, source(nest, from));
  });
}

// The last of colliding writes wins.
void scatter(const Nest& nest) {
  copy_self(nest);
  for_each_named(nest, [&](const Indices& from, const Indices& to) {
    if (nest.has("src")) return nest.lowering.write(nest.output(), to, source(nest, from));
    const Scalar value = nest.call.scalar("value");
    Builder* builder = &nest.lowering.builder();
    nest.lowering.write(nest.output(), to,
                        value.category == DType::f64
                            ? ScalarExpr::constant(builder, DType::f64, value.real)
                            : ScalarExpr::constant(builder, DType::i64, value.integer));
  });
}

// Dimensions without an index tensor stay apart. Named positions may collide and are visited in
// order: the last write wins. With a mask, indices are clamped, and values are added where it
// holds.
void index_put(const Nest& nest) {
  copy_self(nest);
  if (element_count(nest.type().shape) == 0) return;
  const AdvancedIndex named(nest.call);
  const Shape& self = nest.shape_of("self");
  const Shape kept = named.kept(self);
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const std::int64_t lines = element_count(kept);
  const Index line = builder.open_loop("i", lines, Builder::Order::parallel, lanes_for(lines));
  const Index number = builder.open_loop("n", element_count(named.shape));
  const Indices at =
      named.joined(delinearize(line, kept, builder), delinearize(number, named.shape, builder));
  const bool masked = nest.has("mask");
  if (masked) builder.open_if(nest.raw("mask", broadcast_index(at, nest.shape_of("mask"))).id());
  const Indices to = named.position(
      nest.lowering, self, at,
      masked ? AdvancedIndex::OutOfRange::clamped : AdvancedIndex::OutOfRange::faulty);
  const ScalarExpr value = nest.raw("values", broadcast_index(at, nest.shape_of("values")));
  if (masked || nest.call.boolean("accumulate"))
    nest.lowering.combine_into(nest.output(), to, Combine::add, value);
  else
    nest.lowering.write(nest.output(), to, value);
  builder.close_to(depth);
}

// put: positions in the flattened tensor, which may collide anywhere, so the loop is serial.
void put(const Nest& nest) {
  copy_self(nest);
  const Shape& self = nest.type().shape;
  const Shape& index = nest.shape_of("index");
  const Shape& source = nest.shape_of("source");
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index n = builder.open_loop("n", element_count(index));
  const ScalarExpr named = nest.raw("index", delinearize(n, index, builder));
  const Indices to = delinearize(nest.checked(named, element_count(self), true), self, builder);
  const ScalarExpr value = nest.raw("source", delinearize(n, source, builder));
  if (nest.call.boolean("accumulate"))
    nest.lowering.combine_into(nest.output(), to, Combine::add, value);
  else
    nest.lowering.write(nest.output(), to, value);
  builder.close_to(depth);
}

// max_unpool: elements go to their positions in planes of zeros; the last of colliding writes wins.
void max_unpool(const Nest& nest) {
  write_zeros(nest);
  const Shape& in = nest.shape_of("self");
  const Shape& out = nest.type().shape;
  const std::ptrdiff_t dims = nest.call.op().op == Op::max_unpool2d ? 2 : 3;
  const Shape planes(in.begin(), in.end() - dims), pooled(in.end() - dims, in.end());
  const Shape plane(out.end() - dims, out.end());
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", element_count(planes), Builder::Order::parallel);
  const Indices outer = delinearize(i, planes, builder);
  Indices from = outer;
  for (const Index& position :
       delinearize(builder.open_loop("n", element_count(pooled)), pooled, builder))
    from.push_back(position);
  const Index named = nest.checked(nest.raw("indices", from), element_count(plane), false);
  Indices to = outer;
  for (const Index& position : delinearize(named, plane, builder)) to.push_back(position);
  nest.lowering.write(nest.output(), to, nest.raw("self", from));
  builder.close_to(depth);
}

std::optional<std::string> sums_of_bools(const Call& call) {
  if (call.boolean("accumulate") && call.tensor("self").dtype == DType::boolean)
    return "sums of bools";
  return std::nullopt;
}

std::optional<std::string> masks_or_bools(const Call& call) {
  const bool adds = !call.op().parameter("accumulate") || call.boolean("accumulate");
  if (adds && call.tensor("self").dtype == DType::boolean) return "sums of bools";
  return has_masks(call);
}

}  // namespace

void add_scatter_nests(NestTable& table) {
  table.push_back({Op::embedding_dense_backward, embedding_backward, by_frequency_scatter});
  table.push_back({Op::scatter_add, scatter_add, sums_bools});
  for (const Op op :
       {Op::index_put, Op::_unsafe_index_put, Op::_unsafe_masked_index_put_accumulate})
    table.push_back({op, index_put, masks_or_bools});
  table.push_back({Op::put, put, sums_of_bools});
  for (const Op op : {Op::max_unpool2d, Op::max_unpool3d}) table.push_back({op, max_unpool});
  for (const Op op : {Op::scatter_src, Op::scatter_value}) table.push_back({op, scatter});
}

}  // namespace recut::loop

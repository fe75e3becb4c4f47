// Stream compaction: elements in the order in which a condition holds. The output index of an
// element depends on all before it, so a serial loop visits all elements and counts.
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {
namespace {

// Calls body(index, count so far) for the indices of `shape` at which `holds`, serially.
void for_each_held(const Nest& nest, const Shape& shape,
                   const std::function<ScalarExpr(const Indices&)>& holds,
                   const std::function<void(const Indices&, const ScalarExpr&)>& body) {
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  builder.open_any_loop("all", 1, Builder::Order::serial);
  const Scratch count(builder, "count", DType::i64, 1);
  count.write(0, ScalarExpr::constant(&builder, DType::i64, std::int64_t{0}));
  const Indices at = delinearize(builder.open_loop("i", element_count(shape)), shape, builder);
  builder.open_if(holds(at).id());
  const ScalarExpr before = count.read(0);
  body(at, before);
  count.write(0, before + 1.0);
  builder.close_to(depth);
}

ScalarExpr mask_at(const Nest& nest, const Indices& at) {
  return nest.raw("mask", broadcast_index(at, nest.shape_of("mask"))).to(DType::boolean);
}

void write_all(const Nest& nest, const std::function<ScalarExpr(const Indices&)>& value) {
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, value(at));
  });
}

ScalarExpr whole_number(const Nest& nest, std::int64_t number) {
  return ScalarExpr::constant(&nest.lowering.builder(), DType::i64, number);
}

void masked_scatter(const Nest& nest) {
  const Shape& shape = nest.type().shape;
  const Shape& source = nest.shape_of("source");
  write_all(nest, [&](const Indices& at) {
    return nest.raw("self", broadcast_index(at, nest.shape_of("self")));
  });
  for_each_held(
      nest, shape, [&](const Indices& at) { return mask_at(nest, at); },
      [&](const Indices& at, const ScalarExpr& before) {
        const Index from = nest.checked(before, element_count(source), false);
        nest.lowering.write(nest.output(), at,
                            nest.raw("source", delinearize(from, source, nest.lowering.builder())));
      });
}

// Calls write(row, index) for the first indices at which `holds`, up to the number of rows.
void for_each_row(const Nest& nest, const Shape& shape, std::int64_t rows,
                  const std::function<ScalarExpr(const Indices&)>& holds,
                  const std::function<void(const Index&, const Indices&)>& write) {
  Builder& builder = nest.lowering.builder();
  for_each_held(nest, shape, holds, [&](const Indices& at, const ScalarExpr& before) {
    const std::size_t depth = builder.depth();
    builder.open_if((before < static_cast<double>(rows)).id());
    write(nest.checked(before, rows, false), at);
    builder.close_to(depth);
  });
}

// The remaining elements are 0.
void masked_scatter_backward(const Nest& nest) {
  const Shape& own = nest.type().shape;
  const Shape shape = broadcast(nest.shape_of("grad_output"), nest.shape_of("mask")).value();
  write_all(nest, [&](const Indices&) { return whole_number(nest, 0); });
  for_each_row(
      nest, shape, element_count(own), [&](const Indices& at) { return mask_at(nest, at); },
      [&](const Index& row, const Indices& at) {
        nest.lowering.write(
            nest.output(), delinearize(row, own, nest.lowering.builder()),
            nest.raw("grad_output", broadcast_index(at, nest.shape_of("grad_output"))));
      });
}

void nonzero_static(const Nest& nest) {
  const Shape& out = nest.type().shape;
  write_all(nest,
            [&](const Indices&) { return whole_number(nest, nest.call.integer("fill_value")); });
  for_each_row(
      nest, nest.shape_of("self"), out[0],
      [&](const Indices& at) { return nest.raw("self", at).to(DType::boolean); },
      [&](const Index& row, const Indices& at) {
        for (std::size_t d = 0; d < at.size(); ++d)
          nest.lowering.write(nest.output(), {row, Index(static_cast<std::int64_t>(d))},
                              nest.lowering.number(at[d]));
      });
}

// The row indices of a triangle, then its column indices.
void triangle_indices(const Nest& nest) {
  const bool lower = nest.call.op().packet == "tril_indices";
  const auto offset = static_cast<double>(nest.call.integer("offset"));
  for_each_row(
      nest, {nest.call.integer("row"), nest.call.integer("col")}, nest.type().shape[1],
      [&](const Indices& at) {
        const ScalarExpr behind = nest.lowering.number(at[1]) - nest.lowering.number(at[0]);
        return lower ? behind <= offset : behind >= offset;
      },
      [&](const Index& position, const Indices& at) {
        for (std::size_t d = 0; d < 2; ++d)
          nest.lowering.write(nest.output(), {Index(static_cast<std::int64_t>(d)), position},
                              nest.lowering.number(at[d]));
      });
}

std::optional<std::string> nothing_to_read(const Call& call) {
  if (element_count(call.tensor("source").shape) == 0) return "a source without elements";
  return std::nullopt;
}

}  // namespace

void add_compaction_nests(NestTable& table) {
  table.push_back({Op::masked_scatter, masked_scatter, nothing_to_read});
  table.push_back({Op::masked_scatter_backward, masked_scatter_backward});
  table.push_back({Op::nonzero_static, nonzero_static});
  for (const Op op : {Op::tril_indices, Op::triu_indices}) table.push_back({op, triangle_indices});
}

}  // namespace recut::loop

// Gathers at indices that are data, and elements moved to other positions.
#include "engine/codegen/lower/advanced_index.h"
#include "engine/codegen/lower/formula.h"
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/sliding_window.h"

namespace recut::loop {
namespace {

Index checked(const ElementContext& ctx, const ScalarExpr& raw, std::int64_t size, bool from_end) {
  return Nest::checked_index(ctx.lowering, raw, size, from_end);
}

ScalarExpr embedding(const ElementContext& ctx) {
  const Indices at(ctx.at.begin(), ctx.at.end() - 1);
  const Index row = checked(ctx, ctx.raw("indices", at), ctx.call.tensor("weight").shape[0], false);
  return ctx.raw("weight", {row, ctx.at.back()});
}

ScalarExpr gather(const ElementContext& ctx) {
  const Shape& shape = ctx.call.tensor("self").shape;
  if (shape.empty()) return ctx.raw("self", {});
  const std::size_t dim = dimension(ctx, "dim", shape.size());
  Indices position = ctx.at;
  position[dim] = checked(ctx, ctx.raw("index", ctx.at), shape[dim], false);
  return ctx.raw("self", position);
}

ScalarExpr index_select(const ElementContext& ctx) {
  const Shape& shape = ctx.call.tensor("self").shape;
  const std::size_t rank = ctx.call.tensor("index").shape.size();
  if (shape.empty()) return ctx.raw("self", {});
  const std::size_t dim = dimension(ctx, "dim", shape.size());
  Indices position = ctx.at;
  const Indices which = rank == 0 ? Indices{} : Indices{ctx.at[dim]};
  position[dim] = checked(ctx, ctx.raw("index", which), shape[dim], false);
  return ctx.raw("self", position);
}

ScalarExpr index(const ElementContext& ctx) {
  const Shape& self = ctx.call.tensor("self").shape;
  return ctx.raw("self", AdvancedIndex(ctx.call).position(ctx.lowering, self, ctx.at));
}

// Indices are clamped, and read where the mask holds.
ScalarExpr masked_index(const ElementContext& ctx) {
  const Shape& self = ctx.call.tensor("self").shape;
  const Scalar number = ctx.call.scalar("fill");
  Builder* builder = &ctx.lowering.builder();
  const DType type = value_type(ctx.dtype());
  const ScalarExpr fill = is_floating(type) ? ScalarExpr::constant(builder, type, number.real)
                                            : ScalarExpr::constant(builder, type, number.integer);
  if (element_count(self) == 0) return fill;
  const Indices position = AdvancedIndex(ctx.call).position(ctx.lowering, self, ctx.at,
                                                            AdvancedIndex::OutOfRange::clamped);
  return select(ctx.raw("mask").to(DType::boolean), ctx.raw("self", position), fill);
}

ScalarExpr one_hot(const ElementContext& ctx) {
  const Indices at(ctx.at.begin(), ctx.at.end() - 1);
  const std::int64_t classes = ctx.lowering.type(ctx.output).shape.back();
  const Index of = checked(ctx, ctx.raw("self", at), classes, false);
  const ScalarExpr found = ctx.lowering.number(of);
  return found == ctx.lowering.number(ctx.at.back());
}

template <bool lower>
ScalarExpr triangle(const ElementContext& ctx) {
  const std::size_t rank = ctx.at.size();
  const Index distance = ctx.at[rank - 1] - ctx.at[rank - 2] - Index(ctx.call.integer("diagonal"));
  const ScalarExpr inside =
      lower ? ctx.lowering.number(distance) <= 0.0 : ctx.lowering.number(distance) >= 0.0;
  const ScalarExpr x = ctx.raw("self");
  if (x.type() == DType::boolean) return x & inside;
  return select(inside, x, x.like(0));
}

// Padding is not read: the guard of the load decides.
ScalarExpr constant_pad(const ElementContext& ctx) {
  const Shape& shape = ctx.call.tensor("self").shape;
  const auto pads = ctx.call.integers("pad");
  Indices position = ctx.at;
  std::optional<ScalarExpr> inside;
  for (std::size_t n = 0; n < pads.size() / 2; ++n) {
    const std::size_t d = shape.size() - 1 - n;
    position[d] = ctx.at[d] - Index(pads[2 * n]);
    if (pads[2 * n] <= 0 && pads[2 * n + 1] <= 0) continue;
    require_in_bounds(ctx.lowering, inside, position[d], shape[d]);
  }
  if (!inside) return ctx.raw("self", position);
  const ScalarExpr x = ctx.lowering.element_where(ctx.call.node("self"), position, *inside);
  const Scalar value = ctx.call.scalar("value");
  if (x.type() == DType::boolean)
    return select(*inside, x, ScalarExpr::constant(x.builder(), x.type(), value.integer));
  return select(*inside, x, x.like(x.real() ? value.real : static_cast<double>(value.integer)));
}

ScalarExpr flip(const ElementContext& ctx) {
  const Shape& shape = ctx.lowering.type(ctx.output).shape;
  Indices position = ctx.at;
  for (const std::int64_t d : ctx.call.integers("dims")) {
    if (shape.empty()) continue;
    const auto dim = static_cast<std::size_t>(
        wrap_dimension(d, static_cast<std::int64_t>(shape.size())).value());
    position[dim] = Index(shape[dim] - 1) - ctx.at[dim];
  }
  return ctx.raw(ctx.call.op().parameters[0].name, position);
}

Index rolled(const ElementContext& ctx, const Index& at, std::int64_t shift, std::int64_t size) {
  return ctx.lowering.builder().remainder(at + Index(floor_remainder(-shift, size)), size);
}

ScalarExpr roll(const ElementContext& ctx) {
  const Shape& shape = ctx.lowering.type(ctx.output).shape;
  const auto shifts = ctx.call.integers("shifts");
  const auto dims = ctx.call.integers("dims");
  if (shape.empty()) return ctx.raw("self", {});
  if (dims.empty()) {
    const Index flat = rolled(ctx, linearize(ctx.at, shape), shifts[0], element_count(shape));
    return ctx.raw("self", delinearize(flat, shape, ctx.lowering.builder()));
  }
  Indices position = ctx.at;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const auto d = static_cast<std::size_t>(
        wrap_dimension(dims[k], static_cast<std::int64_t>(shape.size())).value());
    position[d] = rolled(ctx, position[d], shifts[k], shape[d]);
  }
  return ctx.raw("self", position);
}

ScalarExpr repeat(const ElementContext& ctx) {
  const Shape& shape = ctx.call.tensor("self").shape;
  const std::size_t added = ctx.at.size() - shape.size();
  Indices position;
  for (std::size_t d = 0; d < shape.size(); ++d)
    position.push_back(ctx.lowering.builder().remainder(ctx.at[added + d], shape[d]));
  return ctx.raw("self", position);
}

}  // namespace

void add_indexing_formulas(FormulaTable& table) {
  table.push_back({Op::embedding, embedding});
  table.push_back({Op::gather, gather});
  table.push_back({Op::index_select, index_select});
  for (const Op op : {Op::index_Tensor, Op::_unsafe_index_Tensor})
    table.push_back({op, index, has_masks});
  table.push_back({Op::_unsafe_masked_index, masked_index, has_masks});
  table.push_back({Op::one_hot, one_hot});
  table.push_back({Op::tril, triangle<true>});
  table.push_back({Op::triu, triangle<false>});
  table.push_back({Op::constant_pad_nd, constant_pad});
  for (const Op op : {Op::flip, Op::prims_rev}) table.push_back({op, flip});
  table.push_back({Op::roll, roll});
  for (const Op op : {Op::repeat, Op::tile}) table.push_back({op, repeat});
}

}  // namespace recut::loop

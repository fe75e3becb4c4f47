// Index permutations: padding by reflection and replication, channel and pixel shuffles, flat
// indices.
#include "engine/codegen/lower/formula.h"
#include "engine/codegen/lower/formulas/padding_modes.h"
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

const Shape& self_shape(const ElementContext& ctx) { return ctx.call.tensor("self").shape; }

template <PadMode mode>
ScalarExpr pad(const ElementContext& ctx) {
  return ctx.raw("self",
                 padded_source_index(ctx.lowering, ctx.call, self_shape(ctx), mode, ctx.at));
}

ScalarExpr pixel_shuffle(const ElementContext& ctx) {
  const std::int64_t factor = ctx.call.integer("upscale_factor");
  Builder& b = ctx.lowering.builder();
  Indices at = ctx.at;
  Index& channel = at[at.size() - 3];
  Index& row = at[at.size() - 2];
  Index& column = at.back();
  channel = factor * (factor * channel + b.remainder(row, factor)) + b.remainder(column, factor);
  row = b.quotient(row, factor);
  column = b.quotient(column, factor);
  return ctx.raw("self", at);
}

ScalarExpr pixel_unshuffle(const ElementContext& ctx) {
  const std::int64_t factor = ctx.call.integer("downscale_factor");
  Builder& b = ctx.lowering.builder();
  Indices at = ctx.at;
  Index& channel = at[at.size() - 3];
  at.back() = factor * at.back() + b.remainder(channel, factor);
  Index& row = at[at.size() - 2];
  row = factor * row + b.remainder(b.quotient(channel, factor), factor);
  channel = b.quotient(channel, factor * factor);
  return ctx.raw("self", at);
}

ScalarExpr channel_shuffle(const ElementContext& ctx) {
  const std::int64_t groups = ctx.call.integer("groups");
  Builder& b = ctx.lowering.builder();
  Indices at = ctx.at;
  at[1] = (self_shape(ctx)[1] / groups) * b.remainder(at[1], groups) + b.quotient(at[1], groups);
  return ctx.raw("self", at);
}

ScalarExpr rot90(const ElementContext& ctx) {
  const Shape& shape = self_shape(ctx);
  const auto dims = ctx.call.integers("dims");
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto a = static_cast<std::size_t>(wrap_dimension(dims[0], rank).value());
  const auto b = static_cast<std::size_t>(wrap_dimension(dims[1], rank).value());
  const std::int64_t quarters = floor_remainder(ctx.call.integer("k"), 4);
  Indices at = ctx.at;
  if (quarters % 2 == 1) std::swap(at[a], at[b]);
  if (quarters == 1 || quarters == 2) at[b] = Index(shape[b] - 1) - at[b];
  if (quarters == 2 || quarters == 3) at[a] = Index(shape[a] - 1) - at[a];
  return ctx.raw("self", at);
}

// diag_embed: the operand on a diagonal, 0 elsewhere.
ScalarExpr diag_embed(const ElementContext& ctx) {
  const std::size_t rank = ctx.at.size();
  const std::size_t row = dimension(ctx, "dim1", rank), column = dimension(ctx, "dim2", rank);
  const std::int64_t offset = ctx.call.integer("offset");
  const Index distance = ctx.at[column] - ctx.at[row] - Index(offset);
  const ScalarExpr on = ctx.lowering.number(distance) == 0.0;
  Indices own;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != row && d != column) own.push_back(ctx.at[d]);
  own.push_back(offset >= 0 ? ctx.at[row] : ctx.at[column]);
  return ctx.lowering.element_where(ctx.call.node("self"), own, on);
}

ScalarExpr take(const ElementContext& ctx) {
  const Shape& shape = self_shape(ctx);
  const Index position =
      Nest::checked_index(ctx.lowering, ctx.raw("index", ctx.at), element_count(shape), true);
  return ctx.raw("self", delinearize(position, shape, ctx.lowering.builder()));
}

ScalarExpr take_along_dim(const ElementContext& ctx) {
  const Shape& shape = self_shape(ctx);
  Builder& builder = ctx.lowering.builder();
  if (!ctx.call.given("dim")) {
    const Shape& given = ctx.call.tensor("indices").shape;
    const ScalarExpr raw = ctx.raw("indices", delinearize(ctx.at[0], given, builder));
    const Index position = Nest::checked_index(ctx.lowering, raw, element_count(shape), false);
    return ctx.raw("self", delinearize(position, shape, builder));
  }
  const std::size_t dim = dimension(ctx, "dim", shape.size());
  Indices position = ctx.at;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) position[d] = 0;
  position[dim] = Nest::checked_index(ctx.lowering, ctx.raw("indices"), shape[dim], false);
  return ctx.raw("self", position);
}

ScalarExpr repeat_interleave(const ElementContext& ctx) {
  const Shape& shape = self_shape(ctx);
  const std::int64_t times = std::max<std::int64_t>(ctx.call.integer("repeats"), 1);
  Builder& builder = ctx.lowering.builder();
  if (!ctx.call.given("dim"))
    return ctx.raw("self", delinearize(builder.quotient(ctx.at[0], times), shape, builder));
  Indices position = ctx.at;
  if (shape.empty()) return ctx.raw("self", {});
  const std::size_t dim = dimension(ctx, "dim", shape.size());
  position[dim] = builder.quotient(position[dim], times);
  return ctx.raw("self", position);
}

// glu: one half times the sigmoid of the other.
ScalarExpr glu(const ElementContext& ctx) {
  const Shape& shape = self_shape(ctx);
  const std::size_t dim = dimension(ctx, "dim", shape.size());
  Indices second = ctx.at;
  second[dim] = second[dim] + Index(shape[dim] / 2);
  const DType type = ctx.lowering.compute_type(ctx.dtype());
  const ScalarExpr x = ctx.raw("self", ctx.at).to(type);
  return x * (1.0 / (1.0 + exp(-ctx.raw("self", second).to(type))));
}

// glu backward: the first half gets the gate, the second the first half times the gate's slope.
ScalarExpr glu_backward(const ElementContext& ctx) {
  const Shape& shape = self_shape(ctx);
  const std::size_t dim = dimension(ctx, "dim", shape.size());
  const std::int64_t half = shape[dim] / 2;
  Builder& builder = ctx.lowering.builder();
  const DType type = ctx.lowering.compute_type(ctx.dtype());
  Indices first = ctx.at;
  first[dim] = builder.remainder(ctx.at[dim], half);
  Indices second = first;
  second[dim] = first[dim] + Index(half);
  const ScalarExpr grad = ctx.raw("grad_output", first).to(type);
  const ScalarExpr gate = 1.0 / (1.0 + exp(-ctx.raw("self", second).to(type)));
  const ScalarExpr of_second = grad * ctx.raw("self", first).to(type) * gate * (1.0 - gate);
  const ScalarExpr is_first = ctx.lowering.number(ctx.at[dim]) < static_cast<double>(half);
  return select(is_first, grad * gate, of_second);
}

std::optional<std::string> zero_rank(const Call& call) {
  if (call.tensor("self").shape.empty()) return "numbers without dimensions";
  return std::nullopt;
}

}  // namespace

void add_rearrangement_formulas(FormulaTable& table) {
  for (const Op op : {Op::reflection_pad1d, Op::reflection_pad2d, Op::reflection_pad3d})
    table.push_back({op, pad<PadMode::reflect>});
  for (const Op op : {Op::replication_pad1d, Op::replication_pad2d, Op::replication_pad3d})
    table.push_back({op, pad<PadMode::replicate>});
  for (const Op op : {Op::channel_shuffle, Op::native_channel_shuffle})
    table.push_back({op, channel_shuffle});
  table.push_back({Op::pixel_shuffle, pixel_shuffle});
  table.push_back({Op::pixel_unshuffle, pixel_unshuffle});
  table.push_back({Op::rot90, rot90});
  table.push_back({Op::diag_embed, diag_embed});
  table.push_back({Op::take, take, zero_rank});
  table.push_back({Op::take_along_dim, take_along_dim, zero_rank});
  table.push_back({Op::repeat_interleave_self_int, repeat_interleave});
  table.push_back({Op::glu, glu});
  table.push_back({Op::glu_backward, glu_backward});
}

}  // namespace recut::loop

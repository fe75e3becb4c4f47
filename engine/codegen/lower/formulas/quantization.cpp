// Quantisation, each step rounded as PyTorch's reference (quantized_decomposed) rounds it.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

// A per-channel parameter of the element.
ScalarExpr of_channel(const ElementContext& ctx, std::string_view list) {
  const auto rank = static_cast<std::int64_t>(ctx.at.size());
  const auto axis =
      static_cast<std::size_t>(wrap_dimension(ctx.call.integer("axis"), rank).value());
  return ctx.raw(list, {ctx.at[axis]});
}

ScalarExpr rounded(const ElementContext& ctx, const ScalarExpr& x, DType dtype) {
  return ctx.lowering.rounded(x, dtype).to(x.type());
}

// NaN has no integer: it becomes the smallest value.
ScalarExpr held(const ElementContext& ctx, const ScalarExpr& value) {
  const auto whole = [&](std::string_view name) {
    return ScalarExpr::constant(value.builder(), DType::i64, ctx.call.integer(name));
  };
  const ScalarExpr least = whole("quant_min"), most = whole("quant_max");
  const ScalarExpr inside = select(value >= most.to(value.type()), most, value.to(DType::i64));
  return select(value > least.to(value.type()), inside, least);
}

// round(x * (1 / scale)) + zero_point, in the arithmetic of `dtype`.
ScalarExpr quantized(const ElementContext& ctx, DType dtype, const ScalarExpr& inverse,
                     const ScalarExpr& zero) {
  const ScalarExpr scaled = rounded(ctx, ctx.raw("input").to(DType::f64) * inverse, dtype);
  return held(ctx, rounded(ctx, nearest(scaled) + zero, dtype));
}

ScalarExpr quantize_per_tensor(const ElementContext& ctx) {
  const double inverse = static_cast<float>(1.0 / ctx.call.real("scale"));
  const auto zero = static_cast<double>(ctx.call.integer("zero_point"));
  return quantized(ctx, DType::f32, ctx.lowering.constant(DType::f64, inverse),
                   ctx.lowering.constant(DType::f64, zero));
}

ScalarExpr quantize_per_channel(const ElementContext& ctx) {
  const DType scales = ctx.call.tensor("scales").dtype;
  const ScalarExpr inverse = rounded(ctx, 1.0 / of_channel(ctx, "scales").to(DType::f64), scales);
  return quantized(ctx, scales == DType::f64 ? DType::f64 : DType::f32, inverse,
                   of_channel(ctx, "zero_points").to(DType::f64));
}

ScalarExpr dequantize_per_tensor(const ElementContext& ctx) {
  const double given = ctx.call.real("scale");
  const double scale = ctx.dtype() == DType::f64 ? given : static_cast<float>(given);
  const auto zero = static_cast<double>(ctx.call.integer("zero_point"));
  const ScalarExpr x = rounded(ctx, ctx.raw("input").to(DType::f64), ctx.dtype());
  return rounded(ctx, x - zero, ctx.dtype()) * scale;
}

// Rounded to the dtype of the scales first.
ScalarExpr dequantize_per_channel(const ElementContext& ctx) {
  ScalarExpr x = ctx.raw("input").to(DType::f64);
  if (ctx.call.is_tensor("zero_points")) x = x - of_channel(ctx, "zero_points").to(DType::f64);
  return rounded(ctx, x * of_channel(ctx, "scales").to(DType::f64),
                 ctx.call.tensor("scales").dtype);
}

}  // namespace

void add_quantization_formulas(FormulaTable& table) {
  table.push_back({Op::quantize_per_tensor, quantize_per_tensor});
  table.push_back({Op::quantize_per_channel, quantize_per_channel});
  table.push_back({Op::dequantize_per_tensor, dequantize_per_tensor});
  table.push_back({Op::dequantize_per_channel, dequantize_per_channel});
}

}  // namespace recut::loop

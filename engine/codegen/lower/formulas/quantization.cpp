// Quantisation, each step rounded as PyTorch's reference (quantized_decomposed) rounds it.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

// A per-channel parameter of the element.
Quantity of_channel(const Site& s, std::string_view list) {
  const auto rank = static_cast<std::int64_t>(s.at.size());
  const auto axis = static_cast<std::size_t>(wrap_dimension(s.call.integer("axis"), rank).value());
  return s.raw(list, {s.at[axis]});
}

Quantity rounded(const Site& s, const Quantity& x, DType dtype) {
  return s.lowering.rounded(x, dtype).to(x.type());
}

// NaN has no integer: it becomes the smallest value.
Quantity held(const Site& s, const Quantity& value) {
  const auto whole = [&](std::string_view name) {
    return Quantity::constant(value.builder(), DType::i64, s.call.integer(name));
  };
  const Quantity least = whole("quant_min"), most = whole("quant_max");
  const Quantity inside = select(value >= most.to(value.type()), most, value.to(DType::i64));
  return select(value > least.to(value.type()), inside, least);
}

// round(x * (1 / scale)) + zero_point, in the arithmetic of `dtype`.
Quantity quantized(const Site& s, DType dtype, const Quantity& inverse, const Quantity& zero) {
  const Quantity scaled = rounded(s, s.raw("input").to(DType::f64) * inverse, dtype);
  return held(s, rounded(s, nearest(scaled) + zero, dtype));
}

Quantity quantize_per_tensor(const Site& s) {
  const double inverse = static_cast<float>(1.0 / s.call.real("scale"));
  const auto zero = static_cast<double>(s.call.integer("zero_point"));
  return quantized(s, DType::f32, s.lowering.constant(DType::f64, inverse),
                   s.lowering.constant(DType::f64, zero));
}

Quantity quantize_per_channel(const Site& s) {
  const DType scales = s.call.tensor("scales").dtype;
  const Quantity inverse = rounded(s, 1.0 / of_channel(s, "scales").to(DType::f64), scales);
  return quantized(s, scales == DType::f64 ? DType::f64 : DType::f32, inverse,
                   of_channel(s, "zero_points").to(DType::f64));
}

Quantity dequantize_per_tensor(const Site& s) {
  const double given = s.call.real("scale");
  const double scale = s.dtype() == DType::f64 ? given : static_cast<float>(given);
  const auto zero = static_cast<double>(s.call.integer("zero_point"));
  const Quantity x = rounded(s, s.raw("input").to(DType::f64), s.dtype());
  return rounded(s, x - zero, s.dtype()) * scale;
}

// Rounded to the dtype of the scales first.
Quantity dequantize_per_channel(const Site& s) {
  Quantity x = s.raw("input").to(DType::f64);
  if (s.call.is_tensor("zero_points")) x = x - of_channel(s, "zero_points").to(DType::f64);
  return rounded(s, x * of_channel(s, "scales").to(DType::f64), s.call.tensor("scales").dtype);
}

}  // namespace

void add_quantization_formulas(FormulaTable& table) {
  table.push_back({Op::quantize_per_tensor, quantize_per_tensor});
  table.push_back({Op::quantize_per_channel, quantize_per_channel});
  table.push_back({Op::dequantize_per_tensor, dequantize_per_tensor});
  table.push_back({Op::dequantize_per_channel, dequantize_per_channel});
}

}  // namespace recut::loop

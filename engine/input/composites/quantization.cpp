// Fake quantisation: values rounded to those of an integer type, and back (Jacob et al. 2018).
//
// The gradient passes where the rounded value is in range, as if nothing had been rounded
// (straight-through estimator). So a result is q + (m - m'). Here m is the operand in range and 0
// elsewhere, and q and m' are detached: the result has the value of q and the derivative of m.
#include "engine/input/composite_operators.h"

namespace recut {
namespace {

struct Quantizer {
  Value inverse, scale, zero_point;  // broadcast against the operand
  std::int64_t min = 0, max = 0;
};

Expansion fake_quantized(Builder& b, const Call& call, const Quantizer& by) {
  const Value x = b.value(call.node("self"));
  const Value rounded = b(Op::round, {x * by.inverse}) + by.zero_point;
  const Value clamped =
      b(Op::clamp, {rounded, static_cast<double>(by.min), static_cast<double>(by.max)});
  const Value mask = b(Op::logical_and, {b(Op::ge_Scalar, {rounded, static_cast<double>(by.min)}),
                                         b(Op::le_Scalar, {rounded, static_cast<double>(by.max)})});
  const Value quantized = b(Op::detach, {(clamped - by.zero_point) * by.scale});
  const Value kept = b.where(mask, x, b.full({}, 0.0, x.dtype(), x.type().device));
  const Value y = quantized + (kept - b(Op::detach, {kept}));
  if (call.op().outputs == 1) return y;
  return std::vector<Value>{y, mask};
}

Quantizer with_range(const Call& call, Quantizer by) {
  by.min = call.integer("quant_min");
  by.max = call.integer("quant_max");
  return by;
}

// PyTorch rounds the scale to f32 before it divides.
Expansion per_tensor(Builder& b, const Call& call) {
  const auto scale = static_cast<float>(call.real("scale"));
  const Value x = b.value(call.node("self"));
  const auto number = [&](double value) { return b.full({}, value, x.dtype(), x.type().device); };
  if (scale == 0) return Expansion::none();
  return fake_quantized(
      b, call,
      with_range(call, {number(1.0F / scale), number(scale),
                        number(static_cast<double>(call.integer("zero_point"))), 0, 0}));
}

Quantizer by_tensors(Builder& b, const Call& call, const Shape& shape) {
  const Value scale = b.view(b.convert(b.value(call.node("scale")), DType::f32), shape);
  const Value zero = b.view(b.convert(b.value(call.node("zero_point")), DType::f32), shape);
  return with_range(call, {1.0 / scale, scale, zero, 0, 0});
}

Expansion per_tensor_by_tensors(Builder& b, const Call& call) {
  return fake_quantized(b, call, by_tensors(b, call, {}));
}

Expansion per_channel(Builder& b, const Call& call) {
  const Value x = b.value(call.node("self"));
  const std::int64_t axis = call.integer("axis");
  if (axis < 0 || axis >= x.rank()) return Expansion::none();
  Shape shape(x.shape().size(), 1);
  shape[static_cast<std::size_t>(axis)] = x.size(axis);
  return fake_quantized(b, call, by_tensors(b, call, shape));
}

Expansion masked_gradient(Builder& b, const Call& call) {
  const Value grad = b.value(call.node("grad"));
  return grad * b.value(call.node("mask"));
}

}  // namespace

std::vector<CompositeRow> quantization_composites() {
  return {
      {"aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int "
       "quant_min, int quant_max) -> Tensor",
       per_tensor},
      {"aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, "
       "int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
       per_tensor},
      {"aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor "
       "zero_point, int quant_min, int quant_max) -> Tensor",
       per_tensor_by_tensors},
      {"aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int "
       "axis, int quant_min, int quant_max) -> Tensor",
       per_channel},
      {"aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor "
       "zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
       per_channel},
      {"aten::fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> "
       "Tensor",
       masked_gradient},
      {"aten::fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> "
       "Tensor",
       masked_gradient},
  };
}

}  // namespace recut

// Quantisation, each step rounded as PyTorch's reference (quantized_decomposed) rounds it.
#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {
namespace {

// The channel of each element, in row-major order.
class Channels {
 public:
  Channels(const Shape& shape, std::int64_t axis)
      : step_(contiguous_strides(shape)[static_cast<std::size_t>(axis)]),
        count_(shape[static_cast<std::size_t>(axis)]) {}
  std::int64_t of(std::int64_t index) const { return index / step_ % count_; }

 private:
  std::int64_t step_, count_;
};

Channels channels_of(const KernelContext& c, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  return Channels(shape, wrap_dimension(c.call.integer("axis"), rank).value());
}

// NaN has no defined result; it becomes quant_min.
std::int64_t held(const KernelContext& c, double value) {
  const auto min_value = static_cast<double>(c.call.integer("quant_min"));
  const auto max_value = static_cast<double>(c.call.integer("quant_max"));
  if (!(value > min_value)) return c.call.integer("quant_min");
  return value >= max_value ? c.call.integer("quant_max") : static_cast<std::int64_t>(value);
}

// round(x * (1 / scale)) + zero_point, in the arithmetic of `dtype`.
std::int64_t quantized(const KernelContext& c, DType dtype, double x, double inverse,
                       double zero_point) {
  const double scaled = round_to(dtype, x * inverse);
  return held(c, round_to(dtype, std::nearbyint(scaled) + zero_point));
}

Result<Done> quantize_per_tensor(KernelContext& c) {
  const Reals in = c.reals("input");
  const double inverse = round_to(DType::f32, 1.0 / c.call.real("scale"));
  const auto zero_point = static_cast<double>(c.call.integer("zero_point"));
  Integers out(in.shape);
  for (std::int64_t i = 0; i < in.count(); ++i)
    out[i] = quantized(c, DType::f32, in[i], inverse, zero_point);
  c.write(out);
  return Done{};
}

Result<Done> quantize_per_channel(KernelContext& c) {
  const Reals in = c.reals("input"), scales = c.reals("scales"), zeros = c.reals("zero_points");
  const DType scale_dtype = c.call.tensor("scales").dtype;
  const DType dtype = scale_dtype == DType::f64 ? DType::f64 : DType::f32;
  const Channels channels = channels_of(c, in.shape);
  Integers out(in.shape);
  for (std::int64_t i = 0; i < in.count(); ++i) {
    const std::int64_t channel = channels.of(i);
    const double inverse = round_to(scale_dtype, 1.0 / scales[channel]);
    out[i] = quantized(c, dtype, in[i], inverse, zeros[channel]);
  }
  c.write(out);
  return Done{};
}

Result<Done> dequantize_per_tensor(KernelContext& c) {
  const Reals in = c.reals("input");
  const DType dtype = c.output_types[0].dtype;
  const double scale =
      dtype == DType::f64 ? c.call.real("scale") : round_to(DType::f32, c.call.real("scale"));
  const auto zero_point = static_cast<double>(c.call.integer("zero_point"));
  Reals out(in.shape);
  for (std::int64_t i = 0; i < in.count(); ++i)
    out[i] = round_to(dtype, round_to(dtype, in[i]) - zero_point) * scale;
  c.write(out);
  return Done{};
}

Result<Done> dequantize_per_channel(KernelContext& c) {
  const Reals in = c.reals("input"), scales = c.reals("scales");
  const Channels channels = channels_of(c, in.shape);
  Reals zeros(scales.shape);
  if (c.call.is_tensor("zero_points")) zeros = c.reals("zero_points");
  const DType dtype = c.call.tensor("scales").dtype;
  Reals out(in.shape);
  for (std::int64_t i = 0; i < in.count(); ++i) {
    const std::int64_t channel = channels.of(i);
    out[i] = round_to(dtype, (in[i] - zeros[channel]) * scales[channel]);
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_quantization_kernels(KernelTable& t) {
  t.add(Op::quantize_per_tensor, quantize_per_tensor);
  t.add(Op::quantize_per_channel, quantize_per_channel);
  t.add(Op::dequantize_per_tensor, dequantize_per_tensor);
  t.add(Op::dequantize_per_channel, dequantize_per_channel);
}

}  // namespace recut

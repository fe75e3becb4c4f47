// Rules of quantisation: whole numbers for reals and back, with one scale or one a channel.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// The range that quantised numbers are held in, and the dtype that has to hold them.
Result<DType> quantized_dtype(const Call& call) {
  if (!call.is_tensor("input")) return error("a tensor is expected");
  const std::int64_t min_value = call.integer("quant_min"), max_value = call.integer("quant_max");
  const DType dtype = call.maybe_dtype("dtype").value_or(DType::none);
  if (!is_integral(dtype)) return error("quantised numbers are of an integer dtype");
  if (min_value > max_value)
    return error(fmt::format("quant_min is {}, more than quant_max {}", min_value, max_value));
  const std::int64_t bits = 8 * item_bytes(dtype);
  if (bits == 64) return dtype;
  const std::int64_t low = dtype == DType::u8 ? 0 : -(std::int64_t{1} << (bits - 1));
  const std::int64_t high = dtype == DType::u8 ? 255 : -low - 1;
  if (min_value < low || max_value > high)
    return error(
        fmt::format("the range [{}, {}] is not {}'s", min_value, max_value, short_name(dtype)));
  return dtype;
}

// One scale, and one zero point if there are any, for every index of the axis.
Result<Done> check_channels(const Call& call) {
  const bool zeros = call.op().op == Op::dequantize_per_channel && !call.given("zero_points");
  if (!call.is_tensor("input") || !call.is_tensor("scales") ||
      (!zeros && !call.is_tensor("zero_points")))
    return error("tensors are expected for input, scales and zero_points");
  if (!is_floating(call.tensor("scales").dtype)) return error("scales are of a floating dtype");
  const TensorType& in = call.tensor("input");
  const auto axis = wrap_dimension(call.integer("axis"), in.rank());
  if (!axis || in.rank() == 0)
    return error(fmt::format("axis {} of {} dimensions", call.integer("axis"), in.rank()));
  const Shape channels = {in.shape[static_cast<std::size_t>(*axis)]};
  for (const std::string_view name : {"scales", "zero_points"})
    if (call.is_tensor(name) && call.tensor(name).shape != channels)
      return error(fmt::format("{} of shape {} for {} channels", name,
                               format_shape(call.tensor(name).shape), channels[0]));
  return Done{};
}

Result<Types> quantized(const Call& call) {
  const auto dtype = quantized_dtype(call);
  if (!dtype) return dtype.diagnostics();
  const TensorType& in = call.tensor("input");
  if (!is_floating(in.dtype)) return error(fmt::format("can't quantise {}", short_name(in.dtype)));
  return one(elementwise_type(call, *dtype, in.shape));
}

Result<Types> dequantized(const Call& call) {
  const auto dtype = quantized_dtype(call);
  if (!dtype) return dtype.diagnostics();
  const TensorType& in = call.tensor("input");
  if (in.dtype != *dtype)
    return error(
        fmt::format("numbers of {} found, expected {}", short_name(in.dtype), short_name(*dtype)));
  const DType out = call.maybe_dtype("out_dtype").value_or(DType::f32);
  if (!is_floating(out)) return error("out_dtype is no floating dtype");
  return one(elementwise_type(call, out, in.shape));
}

}  // namespace

Inferred quantize_per_tensor(const Call& call) { return quantized(call); }

Inferred dequantize_per_tensor(const Call& call) { return dequantized(call); }

Inferred quantize_per_channel(const Call& call) {
  const auto channels = check_channels(call);
  return channels ? quantized(call) : Inferred(channels.diagnostics());
}

Inferred dequantize_per_channel(const Call& call) {
  const auto channels = check_channels(call);
  return channels ? dequantized(call) : Inferred(channels.diagnostics());
}

}  // namespace recut::rules

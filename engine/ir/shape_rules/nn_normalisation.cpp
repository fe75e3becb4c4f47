// Rules of softmax and of normalisation.
#include <algorithm>

#include "engine/ir/shape_rules/nn_windows.h"

namespace recut::rules {
namespace {

TensorType contiguous(const TensorType& like, DType dtype, Shape shape) {
  return make_type(dtype, std::move(shape), like.device);
}

Result<Done> is_shape(const Call& call, std::string_view parameter, const Shape& expected) {
  if (!call.op().parameter(parameter) || !call.is_tensor(parameter)) return Done{};
  const Shape& found = call.tensor(parameter).shape;
  if (found == expected) return Done{};
  return error(fmt::format("{} of shape {}, expected {}", parameter, format_shape(found),
                           format_shape(expected)));
}

// The first of the named parameters whose shape differs.
Result<Done> are_shape(const Call& call, std::initializer_list<std::string_view> parameters,
                       const Shape& expected) {
  for (const std::string_view parameter : parameters) {
    const auto fits = is_shape(call, parameter, expected);
    if (!fits) return fits;
  }
  return Done{};
}

// Statistics of half-precision inputs are kept in single precision.
DType statistics_dtype(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

// Gradients of input, weight and bias by a mask; a weight's or a bias's has `channels`' shape.
Inferred masked_gradients(const Call& call, const Shape& channels) {
  const TensorType& in = call.tensor("input");
  const auto mask = call.booleans("output_mask");
  if (mask.size() != call.op().outputs)
    return error(
        fmt::format("output_mask has {} items, expected {}", mask.size(), call.op().outputs));
  Types types(mask.size());
  if (mask[0]) types[0] = laid_out_like(in, in.dtype, in.shape);
  const bool weighted = call.is_tensor("weight");
  const DType dtype = weighted ? call.tensor("weight").dtype : in.dtype;
  for (std::size_t i = 1; i < mask.size(); ++i)
    if (mask[i]) types[i] = contiguous(in, dtype, channels);
  return types;
}

// The normalised dimensions have to be input's last ones; gives the shape of mean and rstd.
Result<Shape> statistics_shape(const Call& call) {
  const Shape& in = call.tensor("input").shape;
  const Shape inner = call.integers("normalized_shape");
  if (inner.empty() || inner.size() > in.size() ||
      !std::equal(inner.begin(), inner.end(), in.end() - static_cast<std::ptrdiff_t>(inner.size())))
    return error(fmt::format("normalized_shape {} of an input of shape {}", format_shape(inner),
                             format_shape(in)));
  const auto fits = are_shape(call, {"weight", "bias"}, inner);
  if (!fits) return fits.diagnostics();
  Shape shape(in.begin(), in.end() - static_cast<std::ptrdiff_t>(inner.size()));
  shape.resize(in.size(), 1);
  return shape;
}

Result<Done> check_dim(const Call& call, const TensorType& type) {
  const auto dim = wrap_dimension(call.integer("dim"), type.rank());
  if (!dim) return dim.diagnostics();
  return Done{};
}

}  // namespace

Inferred softmax(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto dim = check_dim(call, in);
  if (!dim) return dim.diagnostics();
  const DType dtype = call.boolean("half_to_float") ? DType::f32 : in.dtype;
  if (!is_floating(dtype)) return error(fmt::format("softmax of {}", short_name(dtype)));
  return one(elementwise_type(call, dtype, in.shape));
}

Inferred softmax_as(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto dim = check_dim(call, in);
  if (!dim) return dim.diagnostics();
  const DType dtype = call.maybe_dtype("dtype").value_or(in.dtype);
  return one(elementwise_type(call, is_floating(dtype) ? dtype : DType::f32, in.shape));
}

Inferred softmax_backward(const Call& call) {
  const TensorType& out = call.tensor("output");
  const auto dim = check_dim(call, out);
  if (!dim) return dim.diagnostics();
  const auto fits = is_shape(call, "grad_output", out.shape);
  if (!fits) return fits.diagnostics();
  return one(
      elementwise_type(call, call.maybe_dtype("input_dtype").value_or(out.dtype), out.shape));
}

Inferred layer_norm(const Call& call) {
  const TensorType& in = call.tensor("input");
  const auto shape = statistics_shape(call);
  if (!shape) return shape.diagnostics();
  const TensorType statistics = contiguous(in, statistics_dtype(in.dtype), *shape);
  Types types{contiguous(in, in.dtype, in.shape), statistics, statistics};
  types.resize(call.op().outputs);
  return types;
}

Inferred layer_norm_backward(const Call& call) {
  const auto shape = statistics_shape(call);
  if (!shape) return shape.diagnostics();
  const auto fits = are_shape(call, {"mean", "rstd"}, *shape);
  if (!fits) return fits.diagnostics();
  const auto grad = is_shape(call, "grad_out", call.tensor("input").shape);
  if (!grad) return grad.diagnostics();
  return masked_gradients(call, call.integers("normalized_shape"));
}

Inferred rms_norm(const Call& call) {
  const TensorType& in = call.tensor("input");
  const auto shape = statistics_shape(call);
  if (!shape) return shape.diagnostics();
  const bool weighted = call.is_tensor("weight");
  const DType dtype = weighted ? promote(in.dtype, call.tensor("weight").dtype) : in.dtype;
  Types types{contiguous(in, dtype, in.shape), contiguous(in, statistics_dtype(in.dtype), *shape)};
  types.resize(call.op().outputs);
  return types;
}

Inferred rms_norm_backward(const Call& call) {
  const auto shape = statistics_shape(call);
  if (!shape) return shape.diagnostics();
  const auto fits = is_shape(call, "rstd", *shape);
  if (!fits) return fits.diagnostics();
  const auto grad = is_shape(call, "grad_out", call.tensor("input").shape);
  if (!grad) return grad.diagnostics();
  return masked_gradients(call, call.integers("normalized_shape"));
}

namespace {

// N, C, HxW and group against the input; gives the shape of mean and rstd.
Result<Shape> check_groups(const Call& call) {
  const Shape& in = call.tensor("input").shape;
  const std::int64_t groups = call.integer("group");
  const std::int64_t samples = call.integer("N");
  const std::int64_t channels = call.integer("C");
  const bool fits = in.size() >= 2 && in[0] == samples && in[1] == channels && groups > 0 &&
                    channels % groups == 0;
  const std::int64_t spatial_size = fits ? element_count(Shape(in.begin() + 2, in.end())) : 0;
  if (!fits || (channels > 0 && spatial_size != call.integer("HxW")))
    return error(fmt::format("N {}, C {}, HxW {}, group {} for an input of shape {}", samples,
                             channels, call.integer("HxW"), groups, format_shape(in)));
  const auto weights = are_shape(call, {"weight", "bias"}, {channels});
  if (!weights) return weights.diagnostics();
  return Shape{samples, groups};
}

}  // namespace

Inferred native_group_norm(const Call& call) {
  const auto shape = check_groups(call);
  if (!shape) return shape.diagnostics();
  const TensorType& in = call.tensor("input");
  const TensorType statistics = contiguous(in, statistics_dtype(in.dtype), *shape);
  return Types{laid_out_like(in, in.dtype, in.shape), statistics, statistics};
}

Inferred native_group_norm_backward(const Call& call) {
  const auto shape = check_groups(call);
  if (!shape) return shape.diagnostics();
  const auto fits = are_shape(call, {"mean", "rstd"}, *shape);
  if (!fits) return fits.diagnostics();
  const auto grad = is_shape(call, "grad_out", call.tensor("input").shape);
  if (!grad) return grad.diagnostics();
  return masked_gradients(call, {call.integer("C")});
}

Inferred group_norm(const Call& call) {
  const TensorType& in = call.tensor("input");
  const std::int64_t groups = call.integer("num_groups");
  if (in.rank() < 2 || groups < 1 || in.shape[1] % groups != 0)
    return error(fmt::format("{} groups of an input of shape {}", groups, format_shape(in.shape)));
  const auto fits = are_shape(call, {"weight", "bias"}, {in.shape[1]});
  if (!fits) return fits.diagnostics();
  return one(laid_out_like(in, in.dtype, in.shape));
}

namespace {

Result<Shape> channels_of(const Call& call) {
  const TensorType& in = call.tensor("input");
  if (in.rank() < 2)
    return error(fmt::format("an input of shape {} has no channels", format_shape(in.shape)));
  Shape channels{in.shape[1]};
  const auto fits = are_shape(call, {"weight", "bias", "running_mean", "running_var"}, channels);
  if (!fits) return fits.diagnostics();
  return channels;
}

// True if statistics come from the input; a schema without the flag uses running statistics.
bool is_training(const Call& call) {
  return call.op().parameter("training") && call.boolean("training");
}

}  // namespace

Inferred batch_norm(const Call& call) {
  const auto channels = channels_of(call);
  if (!channels) return channels.diagnostics();
  const TensorType& in = call.tensor("input");
  const bool running = call.op().parameter("running_mean") && call.is_tensor("running_mean") &&
                       call.is_tensor("running_var");
  if (!is_training(call) && !running)
    return error("running statistics are expected where training is false");
  // Evaluation saves nothing.
  const TensorType saved =
      contiguous(in, statistics_dtype(in.dtype), is_training(call) ? *channels : Shape{0});
  Types types{laid_out_like(in, in.dtype, in.shape), saved, saved};
  if (call.op().outputs == 5)
    for (const std::string_view parameter : {"running_mean", "running_var"})
      types.push_back(contiguous(in, call.tensor(parameter).dtype, *channels));
  types.resize(call.op().outputs);
  return types;
}

Inferred batch_norm_backward(const Call& call) {
  const auto channels = channels_of(call);
  if (!channels) return channels.diagnostics();
  const auto grad = is_shape(call, "grad_out", call.tensor("input").shape);
  if (!grad) return grad.diagnostics();
  const bool train = call.boolean("train");
  const std::string_view mean = train ? "save_mean" : "running_mean";
  const std::string_view deviation = train ? "save_invstd" : "running_var";
  if (!call.is_tensor(mean) || !call.is_tensor(deviation))
    return error(fmt::format("{} and {} are expected", mean, deviation));
  const auto fits = are_shape(call, {mean, deviation}, *channels);
  if (!fits) return fits.diagnostics();
  return masked_gradients(call, *channels);
}

}  // namespace recut::rules

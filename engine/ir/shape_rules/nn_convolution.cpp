// Rules of convolutions: forward, transposed, backward, of one to three spatial dimensions. All
// schemas are read into one struct; sizes follow ATen's formulas, and the layout is channels last
// if input or weight is.
#include <algorithm>

#include "engine/ir/shape_rules/nn_windows.h"

namespace recut::rules {
namespace {

// The parameters of every form of convolution, under any schema's names.
struct Convolution {
  std::vector<std::int64_t> stride, padding, dilation, output_padding;
  bool transposed = false;
  std::int64_t groups = 1;
  std::size_t dims = 0;
};

Result<Convolution> read_convolution(const Call& call, bool transposed) {
  Convolution c;
  const TensorType& weight = call.tensor("weight");
  if (weight.rank() < 3 || weight.rank() > 5)
    return error(fmt::format("a weight of shape {}, expected 3 to 5 dimensions",
                             format_shape(weight.shape)));
  c.dims = weight.shape.size() - 2;
  c.transposed = transposed;
  c.groups = call.integer("groups");
  if (c.groups < 1 || c.groups > kMaxExtent) return error(fmt::format("{} groups", c.groups));
  Diagnostics wrong;
  const auto take = [&](std::string_view parameter, std::int64_t min_value,
                        std::vector<std::int64_t>& to) {
    to.assign(c.dims, 0);
    if (!wrong.empty() || !call.op().parameter(parameter)) return;
    auto list = window_list(call, parameter, c.dims, min_value);
    if (list)
      to = std::move(*list);
    else
      wrong = list.diagnostics();
  };
  take("stride", 1, c.stride);
  take("padding", 0, c.padding);
  take("dilation", 1, c.dilation);
  if (transposed) take("output_padding", 0, c.output_padding);
  if (!wrong.empty()) return wrong;
  return c;
}

// Weight, groups and channels against each other.
Result<Done> check_channels(const Call& call, const Convolution& c, std::int64_t in_channels) {
  const Shape& weight = call.tensor("weight").shape;
  // The direction decides which of the weight's first two dimensions faces the input.
  const std::int64_t facing = c.transposed ? weight[0] : weight[1];
  const std::int64_t expected = c.transposed ? in_channels : in_channels / c.groups;
  const bool divides = in_channels % c.groups == 0 && weight[0] % c.groups == 0;
  if (!divides || facing != expected)
    return error(fmt::format("a weight of shape {} does not fit {} channels in {} groups",
                             format_shape(weight), in_channels, c.groups));
  for (std::size_t i = 0; i < weight.size(); ++i)
    if ((i >= 2 && weight[i] < 1) || weight[i] > kMaxExtent)
      return error(fmt::format("a weight of shape {} is empty or too large", format_shape(weight)));
  return Done{};
}

std::int64_t output_channels(const Call& call, const Convolution& c) {
  const Shape& weight = call.tensor("weight").shape;
  return c.transposed ? weight[1] * c.groups : weight[0];
}

Result<std::vector<std::int64_t>> output_spatial(const Call& call, const Convolution& c) {
  const Shape& in = call.tensor("input").shape;
  const Shape& weight = call.tensor("weight").shape;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < c.dims; ++i) {
    const std::int64_t size = in[in.size() - c.dims + i];
    if (size < 0 || size > kMaxExtent)
      return error(fmt::format("a spatial dimension of {} is too large", size));
    const std::int64_t kernel = weight[i + 2];
    const std::int64_t span = c.dilation[i] * (kernel - 1) + 1;
    const std::int64_t count =
        c.transposed ? (size - 1) * c.stride[i] - 2 * c.padding[i] + span + c.output_padding[i]
                     : windows_along(size, kernel, c.stride[i], c.padding[i], c.dilation[i], false);
    if (count < 1)
      return error(
          fmt::format("a kernel of {} (dilated: {}) does not fit {} elements", kernel, span, size));
    if (c.transposed && c.output_padding[i] >= std::max(c.stride[i], c.dilation[i]))
      return error(fmt::format("output_padding {} has to be less than stride or dilation",
                               c.output_padding[i]));
    out.push_back(count);
  }
  return out;
}

Inferred infer(const Call& call, bool transposed) {
  auto c = read_convolution(call, transposed);
  if (!c) return c.diagnostics();
  const TensorType& in = call.tensor("input");
  const TensorType& weight = call.tensor("weight");
  const std::size_t rank = in.shape.size();
  if (rank != c->dims + 2 && rank != c->dims + 1)
    return error(fmt::format("input {} for a weight of shape {}", format_shape(in.shape),
                             format_shape(weight.shape)));
  const auto fits = check_channels(call, *c, in.shape[rank - c->dims - 1]);
  if (!fits) return fits.diagnostics();
  const auto spatial = output_spatial(call, *c);
  if (!spatial) return spatial.diagnostics();
  const std::int64_t channels = output_channels(call, *c);
  if (call.op().parameter("bias") && call.is_tensor("bias") &&
      call.tensor("bias").shape != Shape{channels})
    return error(fmt::format("a bias of shape {} for {} channels",
                             format_shape(call.tensor("bias").shape), channels));
  Shape shape = with_spatial(in, *spatial);
  shape[rank - c->dims - 1] = channels;
  const TensorType& like = is_channels_last(in) || rank != weight.shape.size() ? in : weight;
  TensorType out = laid_out_like(like, in.dtype, std::move(shape));
  out.device = in.device;
  return one(std::move(out));
}

}  // namespace

Inferred convolution(const Call& call) { return infer(call, call.boolean("transposed")); }
Inferred convolution_plain(const Call& call) { return infer(call, false); }
Inferred convolution_plain_transposed(const Call& call) { return infer(call, true); }

Inferred clamped_convolution(const Call& call) {
  auto types = infer(call, false);
  if (!types || !call.is_tensor("addend")) return types;
  const TensorType& out = types->front();
  const TensorType& addend = call.tensor("addend");
  if (addend.shape != out.shape || addend.dtype != out.dtype)
    return error(fmt::format("addend of {}{}, expected {}{}", short_name(addend.dtype),
                             format_shape(addend.shape), short_name(out.dtype),
                             format_shape(out.shape)));
  return types;
}

Inferred int_convolution(const Call& call) {
  for (const std::string_view operand : {"input", "weight"})
    if (const DType dtype = call.tensor(operand).dtype; dtype != DType::i8)
      return error(fmt::format("{} of {}, expected i8", operand, short_name(dtype)));
  if (const std::int64_t zero = call.integer("zero_point"); zero < -128 || zero > 127)
    return error(fmt::format("a zero_point of {}, expected -128 to 127", zero));
  auto types = infer(call, false);
  if (types) types->front().dtype = DType::i32;
  return types;
}

Inferred convolution_backward(const Call& call) {
  // The same checks as forward's; `bias` is a list of sizes here, so that infer() can't be asked.
  auto c = read_convolution(call, call.boolean("transposed"));
  if (!c) return c.diagnostics();
  const TensorType& in = call.tensor("input");
  const TensorType& weight = call.tensor("weight");
  const TensorType& grad = call.tensor("grad_output");
  if (in.shape.size() != c->dims + 2)
    return error(fmt::format("input {} for a weight of shape {}", format_shape(in.shape),
                             format_shape(weight.shape)));
  const auto fits = check_channels(call, *c, in.shape[1]);
  if (!fits) return fits.diagnostics();
  const auto spatial = output_spatial(call, *c);
  if (!spatial) return spatial.diagnostics();
  Shape expected = with_spatial(in, *spatial);
  expected[1] = output_channels(call, *c);
  if (grad.shape != expected)
    return error(fmt::format("grad_output of shape {}, expected {}", format_shape(grad.shape),
                             format_shape(expected)));
  const auto mask = call.booleans("output_mask");
  if (mask.size() != 3) return error(fmt::format("output_mask has {} items", mask.size()));
  const bool last = is_channels_last(in) || is_channels_last(weight);
  const TensorType& like = last && !is_channels_last(in) ? weight : in;
  Types types(3);
  if (mask[0]) types[0] = laid_out_like(like, in.dtype, in.shape);
  if (mask[1]) types[1] = laid_out_like(like, weight.dtype, weight.shape);
  if (mask[2]) types[2] = make_type(grad.dtype, {expected[1]}, grad.device);
  return types;
}

}  // namespace recut::rules

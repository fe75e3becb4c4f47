// Rules of pooling: max, average, adaptive and fractional windows, and max unpooling. The output
// size is ATen's formula with ceil_mode (nn_windows.h); gradients have the shape of self.
#include "engine/ir/shape_rules/nn_windows.h"

namespace recut::rules {
namespace {

// The pooled shape of `self`.
Result<Shape> pooled_shape(const Call& call, std::size_t dims) {
  const TensorType& in = call.tensor("self");
  const auto spatial = check_spatial(in, dims);
  if (!spatial) return spatial.diagnostics();
  const auto w = pooling_windows(call, dims);
  if (!w) return w.diagnostics();
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < dims; ++i) {
    out.push_back(windows_along(in.shape[in.shape.size() - dims + i], w->kernel[i], w->stride[i],
                                w->padding[i], w->dilation[i], call.boolean("ceil_mode")));
    if (out.back() < 1)
      return error(fmt::format("no window of {} fits {}", w->kernel[i], format_shape(in.shape)));
  }
  return with_spatial(in, out);
}

// Values and, if `index` is a dtype, indices.
Inferred pooled(const Call& call, std::size_t dims, DType index) {
  auto shape = pooled_shape(call, dims);
  if (!shape) return shape.diagnostics();
  const TensorType& in = call.tensor("self");
  Types types{laid_out_like(in, in.dtype, *shape)};
  if (index != DType::none) types.push_back(laid_out_like(in, index, std::move(*shape)));
  return types;
}

// The gradient of self, once grad_output has been compared with the pooled shape.
Inferred backward(const Call& call, const Result<Shape>& pooled) {
  if (!pooled) return pooled.diagnostics();
  for (const std::string_view parameter : {"grad_output", "indices"}) {
    if (!call.op().parameter(parameter)) continue;
    if (call.tensor(parameter).shape != *pooled)
      return error(fmt::format("{} of shape {}, expected {}", parameter,
                               format_shape(call.tensor(parameter).shape), format_shape(*pooled)));
  }
  const TensorType& in = call.tensor("self");
  return one(laid_out_like(in, in.dtype, in.shape));
}

Result<Shape> adaptive_shape(const Call& call, std::size_t dims) {
  const TensorType& in = call.tensor("self");
  const auto spatial = check_spatial(in, dims);
  if (!spatial) return spatial.diagnostics();
  const auto size = window_list(call, "output_size", dims, 0);
  if (!size) return size.diagnostics();
  return with_spatial(in, *size);
}

Inferred adaptive(const Call& call, std::size_t dims, bool with_indices) {
  auto shape = adaptive_shape(call, dims);
  if (!shape) return shape.diagnostics();
  const TensorType& in = call.tensor("self");
  Types types{laid_out_like(in, in.dtype, *shape)};
  if (with_indices) types.push_back(laid_out_like(in, DType::i64, std::move(*shape)));
  return types;
}

// Adaptive windows take any output size: only the leading dimensions have to agree.
Inferred adaptive_backward(const Call& call, std::size_t dims) {
  const TensorType& in = call.tensor("self");
  const auto spatial = check_spatial(in, dims);
  if (!spatial) return spatial.diagnostics();
  const Shape& grad = call.tensor("grad_output").shape;
  Shape expected = in.shape;
  for (std::size_t i = in.shape.size() - dims; i < in.shape.size() && i < grad.size(); ++i)
    expected[i] = grad[i];
  return backward(call, expected);
}

}  // namespace

Inferred max_pool1d(const Call& call) { return pooled(call, 1, DType::none); }
Inferred max_pool2d(const Call& call) { return pooled(call, 2, DType::none); }
Inferred max_pool3d(const Call& call) { return pooled(call, 3, DType::none); }
Inferred max_pool1d_with_indices(const Call& call) { return pooled(call, 1, DType::i64); }
Inferred max_pool2d_with_indices(const Call& call) { return pooled(call, 2, DType::i64); }
Inferred max_pool3d_with_indices(const Call& call) { return pooled(call, 3, DType::i64); }
Inferred max_pool2d_backward(const Call& call) { return backward(call, pooled_shape(call, 2)); }
Inferred max_pool3d_backward(const Call& call) { return backward(call, pooled_shape(call, 3)); }
Inferred avg_pool1d(const Call& call) { return pooled(call, 1, DType::none); }

namespace {

Result<Done> check_divisor(const Call& call) {
  if (call.given("divisor_override") && call.integer("divisor_override") == 0)
    return error("divisor_override is 0");
  return Done{};
}

Inferred avg_pool(const Call& call, std::size_t dims) {
  const auto divisor = check_divisor(call);
  return divisor ? pooled(call, dims, DType::none) : Inferred(divisor.diagnostics());
}

Inferred avg_pool_backward(const Call& call, std::size_t dims) {
  const auto divisor = check_divisor(call);
  return divisor ? backward(call, pooled_shape(call, dims)) : Inferred(divisor.diagnostics());
}

}  // namespace

Inferred avg_pool2d(const Call& call) { return avg_pool(call, 2); }
Inferred avg_pool3d(const Call& call) { return avg_pool(call, 3); }
Inferred avg_pool2d_backward(const Call& call) { return avg_pool_backward(call, 2); }
Inferred avg_pool3d_backward(const Call& call) { return avg_pool_backward(call, 3); }

Inferred adaptive_avg_pool1d(const Call& call) { return adaptive(call, 1, false); }
Inferred adaptive_avg_pool2d(const Call& call) { return adaptive(call, 2, false); }
Inferred adaptive_avg_pool3d(const Call& call) { return adaptive(call, 3, false); }
Inferred adaptive_max_pool1d(const Call& call) { return adaptive(call, 1, true); }
Inferred adaptive_max_pool2d(const Call& call) { return adaptive(call, 2, true); }
Inferred adaptive_max_pool3d(const Call& call) { return adaptive(call, 3, true); }
Inferred adaptive_pool2d_backward(const Call& call) { return adaptive_backward(call, 2); }
Inferred adaptive_pool3d_backward(const Call& call) { return adaptive_backward(call, 3); }
Inferred adaptive_max_pool2d_backward(const Call& call) { return adaptive_backward(call, 2); }
Inferred adaptive_max_pool3d_backward(const Call& call) { return adaptive_backward(call, 3); }

Inferred low_memory_max_pool(const Call& call) {
  const std::size_t dims = call.integers("kernel_size").size();
  if (dims < 1 || dims > 3)
    return error(fmt::format("kernel_size has {} numbers, expected 1 to 3", dims));
  return pooled(call, dims, DType::i8);
}

Inferred low_memory_max_pool_indices(const Call& call) {
  const TensorType& offsets = call.tensor("self");
  const std::size_t dims = call.integers("kernel_size").size();
  if (dims < 1 || dims > 3)
    return error(fmt::format("kernel_size has {} numbers, expected 1 to 3", dims));
  const auto spatial = check_spatial(offsets, dims);
  if (!spatial) return spatial.diagnostics();
  const auto size = window_list(call, "input_size", dims, 1);
  if (!size) return size.diagnostics();
  const auto w = pooling_windows(call, dims);
  if (!w) return w.diagnostics();
  const auto plane = check_size(make_type(DType::i64, *size));
  if (!plane) return plane.diagnostics();
  for (std::size_t i = 0; i < dims; ++i) {
    const std::int64_t found = offsets.shape[offsets.shape.size() - dims + i];
    const auto count = [&](bool ceil_mode) {
      return windows_along((*size)[i], w->kernel[i], w->stride[i], w->padding[i], w->dilation[i],
                           ceil_mode);
    };
    if (found != count(false) && found != count(true))
      return error(fmt::format("{} windows along {} elements, expected {}", found, (*size)[i],
                               count(false)));
  }
  return one(laid_out_like(offsets, DType::i64, offsets.shape));
}

namespace {

Inferred unpooled(const Call& call, std::size_t dims) {
  const TensorType& in = call.tensor("self");
  const auto shape = adaptive_shape(call, dims);
  if (!shape) return shape.diagnostics();
  if (call.tensor("indices").shape != in.shape)
    return error(fmt::format("indices of shape {}, expected {}",
                             format_shape(call.tensor("indices").shape), format_shape(in.shape)));
  return one(laid_out_like(in, in.dtype, *shape));
}

// One random number a plane and dimension.
Inferred fractional(const Call& call, std::size_t dims) {
  const TensorType& in = call.tensor("self");
  auto types = adaptive(call, dims, true);
  if (!types) return types;
  const auto kernel = window_list(call, "kernel_size", dims, 1);
  if (!kernel) return kernel.diagnostics();
  const Shape& out = types->front().shape;
  for (std::size_t i = 0; i < dims; ++i) {
    const std::size_t d = in.shape.size() - dims + i;
    if ((*kernel)[i] > in.shape[d] || out[d] + (*kernel)[i] - 1 > in.shape[d])
      return error(
          fmt::format("{} windows of {} along {} elements", out[d], (*kernel)[i], in.shape[d]));
  }
  const bool batched = in.shape.size() == dims + 2;
  const Shape expected{batched ? in.shape[0] : 1, in.shape[batched ? 1 : 0],
                       static_cast<std::int64_t>(dims)};
  if (call.tensor("random_samples").shape != expected)
    return error(fmt::format("random_samples of shape {}, expected {}",
                             format_shape(call.tensor("random_samples").shape),
                             format_shape(expected)));
  return types;
}

}  // namespace

Inferred max_unpool2d(const Call& call) { return unpooled(call, 2); }
Inferred max_unpool3d(const Call& call) { return unpooled(call, 3); }
Inferred fractional_max_pool2d(const Call& call) { return fractional(call, 2); }
Inferred fractional_max_pool3d(const Call& call) { return fractional(call, 3); }

}  // namespace recut::rules

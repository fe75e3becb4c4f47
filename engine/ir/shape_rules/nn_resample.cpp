// Rules of resampling: upsampling and grid_sample.
#include "engine/ir/shape_rules/nn_windows.h"

namespace recut::rules {
namespace {

Result<Done> same_shape(const Call& call, std::string_view parameter, const Shape& expected) {
  const Shape& found = call.tensor(parameter).shape;
  if (found == expected) return Done{};
  return error(fmt::format("{} of shape {}, expected {}", parameter, format_shape(found),
                           format_shape(expected)));
}

// [N, C, spatial…] of any number of spatial dimensions, none of them empty.
Result<std::size_t> spatial_dims(const TensorType& type) {
  if (type.rank() < 3 || type.rank() > 5)
    return error(fmt::format("{} has no one to three spatial dimensions after two others",
                             format_shape(type.shape)));
  const std::size_t dims = type.shape.size() - 2;
  const auto spatial = check_spatial(type, dims);
  if (!spatial) return spatial.diagnostics();
  return dims;
}

// Input [N, C, spatial…], grid [N, output spatial…, dims].
Result<Shape> sampled_shape(const Call& call) {
  const TensorType& in = call.tensor("input");
  const Shape& grid = call.tensor("grid").shape;
  const auto found = spatial_dims(in);
  if (!found) return found.diagnostics();
  const std::string_view name = call.op().packet;
  const bool flat = name.find("3d") == std::string_view::npos && in.rank() == 4;
  const bool deep = name.find("2d") == std::string_view::npos && in.rank() == 5;
  const std::size_t dims = *found;
  if (!(flat || deep) || grid.size() != dims + 2 || grid[0] != in.shape[0] ||
      grid.back() != static_cast<std::int64_t>(dims))
    return error(fmt::format("a grid of shape {} for an input of shape {}", format_shape(grid),
                             format_shape(in.shape)));
  const std::int64_t interpolation = call.integer("interpolation_mode");
  const std::int64_t padding = call.integer("padding_mode");
  if (interpolation < 0 || interpolation > (dims == 2 ? 2 : 1) || padding < 0 || padding > 2)
    return error(fmt::format("interpolation_mode {} and padding_mode {}", interpolation, padding));
  Shape shape{in.shape[0], in.shape[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return shape;
}

}  // namespace

Inferred upsample(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto dims = spatial_dims(in);
  if (!dims) return dims.diagnostics();
  const auto size = window_list(call, "output_size", *dims, 1);
  if (!size) return size.diagnostics();
  return one(laid_out_like(in, in.dtype, with_spatial(in, *size)));
}

Inferred upsample_vec(const Call& call) {
  const TensorType& in = call.tensor("input");
  const auto dims = spatial_dims(in);
  if (!dims) return dims.diagnostics();
  const auto* factors = call.argument("scale_factors").get<ArgumentList>();
  if (call.given("output_size") == (factors != nullptr))
    return error("either output_size or scale_factors is expected");
  if (factors == nullptr) {
    const auto size = window_list(call, "output_size", *dims, 1);
    if (!size) return size.diagnostics();
    return one(laid_out_like(in, in.dtype, with_spatial(in, *size)));
  }
  if (factors->size() != *dims)
    return error(fmt::format("scale_factors has {} numbers, expected {}", factors->size(), *dims));
  std::vector<std::int64_t> size;
  for (std::size_t i = 0; i < *dims; ++i) {
    const double factor = Scalar::from((*factors)[i]).value_or(Scalar{}).real;
    const double extent = factor * static_cast<double>(in.shape[i + 2]);
    if (!(extent >= 1 && extent <= static_cast<double>(kMaxExtent)))
      return error(fmt::format("a scale factor of {} makes {} elements of {}", factor, extent,
                               in.shape[i + 2]));
    size.push_back(static_cast<std::int64_t>(extent));
  }
  return one(laid_out_like(in, in.dtype, with_spatial(in, size)));
}

Inferred upsample_backward(const Call& call) {
  const TensorType& grad = call.tensor("grad_output");
  const auto dims = spatial_dims(grad);
  if (!dims) return dims.diagnostics();
  const auto size = window_list(call, "output_size", *dims, 1);
  if (!size) return size.diagnostics();
  const auto shape = call.integers("input_size");
  if (shape.size() != grad.shape.size())
    return error(
        fmt::format("input_size has {} numbers, expected {}", shape.size(), grad.shape.size()));
  TensorType in = make_type(grad.dtype, shape, grad.device);
  const auto spatial = check_spatial(in, *dims);
  if (!spatial) return spatial.diagnostics();
  const auto expected = same_shape(call, "grad_output", with_spatial(in, *size));
  if (!expected) return expected.diagnostics();
  return one(laid_out_like(grad, grad.dtype, shape));
}

Inferred grid_sampler(const Call& call) {
  auto shape = sampled_shape(call);
  if (!shape) return shape.diagnostics();
  const TensorType& in = call.tensor("input");
  return one(make_type(in.dtype, std::move(*shape), in.device));
}

Inferred grid_sampler_backward(const Call& call) {
  const auto shape = sampled_shape(call);
  if (!shape) return shape.diagnostics();
  const auto grad = same_shape(call, "grad_output", *shape);
  if (!grad) return grad.diagnostics();
  const auto mask = call.booleans("output_mask");
  if (mask.size() != 2) return error(fmt::format("output_mask has {} items", mask.size()));
  const TensorType& in = call.tensor("input");
  const TensorType& grid = call.tensor("grid");
  Types types(2);
  if (mask[0]) types[0] = laid_out_like(in, in.dtype, in.shape);
  // The grid's gradient is always made, whatever the mask says (ATen's grid_sampler_2d_backward).
  types[1] = make_type(grid.dtype, grid.shape, grid.device);
  return types;
}

}  // namespace recut::rules

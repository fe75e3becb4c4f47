// Rules of triangles, diagonals, pixel shuffles and im2col, and of the view_scatter and
// view_backward operators. The latter take their part's shape from the layout rule of the
// corresponding view (engine/ir/layout.h).
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

std::size_t at(std::int64_t dimension) { return static_cast<std::size_t>(dimension); }

std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t f : factors)
    if (__builtin_mul_overflow(result, f, &result)) return std::nullopt;
  return result;
}

// A contiguous tensor of the given shape; fails if its size is invalid.
Result<TensorType> whole_of(const TensorType& part, Shape shape) {
  TensorType type{part.dtype, std::move(shape), {}, part.device};
  if (const auto sound = check_size(type); !sound) return sound.diagnostics();
  type.strides = contiguous_strides(type.shape);
  return type;
}

Result<Done> check_part(const Call& call, layout::Rule rule, const TensorType& whole,
                        const TensorType& part) {
  const auto view = rule(call, Layout{whole.shape, whole.strides, 0, false}, 0);
  if (!view) return view.diagnostics();
  if (view->shape != part.shape)
    return error(fmt::format("the part has shape {}, found {}", format_shape(view->shape),
                             format_shape(part.shape)));
  return Done{};
}

}  // namespace

Inferred scattered_type(const Call& call, layout::Rule rule) {
  const TensorType& self = call.tensor("self");
  if (const auto fits = check_part(call, rule, self, call.tensor("src")); !fits)
    return fits.diagnostics();
  return one(self);
}

Inferred part_backward_type(const Call& call, layout::Rule rule) {
  const TensorType& gradient = call.tensor("grad_output");
  auto whole = whole_of(gradient, call.integers("input_sizes"));
  if (!whole) return whole.diagnostics();
  if (const auto fits = check_part(call, rule, *whole, gradient); !fits) return fits.diagnostics();
  return one(std::move(*whole));
}

Inferred unfold_backward(const Call& call) {
  const TensorType& gradient = call.tensor("grad_in");
  auto whole = whole_of(gradient, call.integers("input_sizes"));
  if (!whole) return whole.diagnostics();
  const auto dim = wrap_dimension(call.integer("dim"), whole->rank());
  if (!dim) return dim.diagnostics();
  const std::int64_t size = call.integer("size");
  const std::int64_t step = call.integer("step");
  const std::int64_t length = whole->shape.empty() ? 1 : whole->shape[at(*dim)];
  if (step <= 0 || size < 0 || size > length)
    return error(fmt::format("windows of {} in steps of {} in dimension {} of size {}", size, step,
                             *dim, length));
  Shape windows = whole->shape;
  if (!windows.empty()) windows[at(*dim)] = (length - size) / step + 1;
  windows.push_back(size);
  if (gradient.shape != windows)
    return error(fmt::format("a gradient of shape {} is expected, found {}", format_shape(windows),
                             format_shape(gradient.shape)));
  return one(std::move(*whole));
}

// Tril, triu.
Inferred triangle(const Call& call) {
  if (call.tensor("self").rank() < 2) return error("a tensor of at least 2 dimensions is expected");
  return same_type_dense(call);
}

Inferred diag_embed(const Call& call) {
  const TensorType& in = call.tensor("self");
  if (in.shape.empty()) return error("a tensor with dimensions is expected");
  const auto first = wrap_dimension(call.integer("dim1"), in.rank() + 1);
  if (!first) return first.diagnostics();
  const auto second = wrap_dimension(call.integer("dim2"), in.rank() + 1);
  if (!second) return second.diagnostics();
  if (*first == *second) return error("a diagonal needs two different dimensions");
  const std::int64_t offset = std::clamp(call.integer("offset"), -kMaxBytes, kMaxBytes);
  const std::int64_t side = in.shape.back() + (offset < 0 ? -offset : offset);
  Shape shape(in.shape.begin(), in.shape.end() - 1);
  shape.insert(shape.begin() + std::min(*first, *second), side);
  shape.insert(shape.begin() + std::max(*first, *second), side);
  return one(make_type(in.dtype, std::move(shape), in.device));
}

Inferred pixel_shuffle(const Call& call) {
  const TensorType& in = call.tensor("self");
  if (in.rank() < 3) return error("a tensor of at least 3 dimensions is expected");
  const std::int64_t factor = call.integer("upscale_factor");
  Shape shape = in.shape;
  std::int64_t& channels = shape[shape.size() - 3];
  const auto squared = factor > 0 ? product({factor, factor}) : std::nullopt;
  if (!squared || channels % *squared != 0)
    return error(fmt::format("{} channels are no multiple of the square of {}", channels, factor));
  channels /= *squared;
  for (const std::size_t d : {shape.size() - 2, shape.size() - 1})
    if (__builtin_mul_overflow(shape[d], factor, &shape[d]))
      return error(fmt::format("a dimension is scaled by {}", factor));
  return one(laid_out_like(in, in.dtype, std::move(shape)));
}

Inferred pixel_unshuffle(const Call& call) {
  const TensorType& in = call.tensor("self");
  if (in.rank() < 3) return error("a tensor of at least 3 dimensions is expected");
  const std::int64_t factor = call.integer("downscale_factor");
  Shape shape = in.shape;
  for (const std::size_t d : {shape.size() - 2, shape.size() - 1}) {
    if (factor <= 0 || shape[d] % factor != 0)
      return error(fmt::format("a dimension of size {} is no multiple of {}", shape[d], factor));
    shape[d] /= factor;
  }
  const auto channels = product({shape[shape.size() - 3], factor, factor});
  if (!channels) return error(fmt::format("channels are multiplied by the square of {}", factor));
  shape[shape.size() - 3] = *channels;
  return one(laid_out_like(in, in.dtype, std::move(shape)));
}

Inferred channel_shuffle(const Call& call) {
  const TensorType& in = call.tensor("self");
  const std::int64_t groups = call.integer("groups");
  if (in.rank() < 3) return error("a tensor of at least 3 dimensions is expected");
  if (groups <= 0 || in.shape[1] % groups != 0)
    return error(fmt::format("{} channels can't be dealt into {} groups", in.shape[1], groups));
  return one(laid_out_like(in, in.dtype, in.shape));
}

namespace {

// The windows of im2col and col2im over an image of `height` and `width`.
struct PlaneWindows {
  std::int64_t kernel_elements = 0;
  std::int64_t count = 0;
};

Result<PlaneWindows> windows_over(const Call& call, std::int64_t height, std::int64_t width) {
  const auto kernel = call.integers("kernel_size");
  const auto dilation = call.integers("dilation");
  const auto padding = call.integers("padding");
  const auto stride = call.integers("stride");
  // Limited to 32 bits, so that no product of two overflows.
  constexpr std::int64_t kMaxValue = (std::int64_t{1} << 31) - 1;
  const auto out_of_range = [](std::int64_t x, std::int64_t min_value) {
    return x < min_value || x > kMaxValue;
  };
  PlaneWindows windows{1, 1};
  const std::int64_t sizes[] = {height, width};
  for (std::size_t d = 0; d < 2; ++d) {
    for (const auto* numbers : {&kernel, &dilation, &padding, &stride})
      if (numbers->size() != 2 || out_of_range((*numbers)[d], numbers == &padding ? 0 : 1))
        return error(
            "kernel_size, dilation, padding and stride have to be two numbers each, "
            "positive ones but for padding");
    const std::int64_t window_extent = dilation[d] * (kernel[d] - 1) + 1;
    const std::int64_t slack = sizes[d] + 2 * padding[d] - window_extent;
    if (slack < 0)
      return error(fmt::format("no window of {} fits into {}", window_extent, sizes[d]));
    windows.kernel_elements *= kernel[d];
    if (__builtin_mul_overflow(windows.count, slack / stride[d] + 1, &windows.count))
      return error("there are too many windows");
  }
  return windows;
}

}  // namespace

Inferred im2col(const Call& call) {
  const TensorType& in = call.tensor("self");
  if (in.rank() != 3 && in.rank() != 4)
    return error("an image of 3 dimensions, or a batch of 4, is expected");
  const std::size_t channels = in.shape.size() - 3;
  const auto windows = windows_over(call, in.shape[channels + 1], in.shape[channels + 2]);
  if (!windows) return windows.diagnostics();
  const auto rows = product({in.shape[channels], windows->kernel_elements});
  if (!rows) return error("the columns are too long");
  Shape shape(in.shape.begin(), in.shape.end() - 3);
  shape.push_back(*rows);
  shape.push_back(windows->count);
  return one(make_type(in.dtype, std::move(shape), in.device));
}

Inferred col2im(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto size = call.integers("output_size");
  if (in.rank() != 2 && in.rank() != 3)
    return error("columns of 2 dimensions, or a batch of 3, are expected");
  for (const std::int64_t s : size)
    if (s < 1 || s > kMaxBytes) return error(fmt::format("output size {}", s));
  if (size.size() != 2) return error("two output sizes are expected");
  const auto windows = windows_over(call, size[0], size[1]);
  if (!windows) return windows.diagnostics();
  const std::int64_t rows = in.shape[in.shape.size() - 2];
  if (rows % windows->kernel_elements != 0 || in.shape.back() != windows->count)
    return error(fmt::format("columns of shape {} for {} windows of {} elements",
                             format_shape(in.shape), windows->count, windows->kernel_elements));
  Shape shape(in.shape.begin(), in.shape.end() - 2);
  shape.insert(shape.end(), {rows / windows->kernel_elements, size[0], size[1]});
  return one(make_type(in.dtype, std::move(shape), in.device));
}

}  // namespace recut::rules

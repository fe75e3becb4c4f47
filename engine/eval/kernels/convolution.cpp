// Convolutions, as matrix products over unfolded windows (im2col: Chellapilla, Puri, Simard 2006).
//
// All forms come from three products between an image [N, C, spatial], a map [N, O, spatial] and a
// weight [O, C / groups, kernel], where the map is the output of an ordinary convolution of the
// image:
//   gather     image, weight -> map      an ordinary convolution; a transposed one's gradient
//   scatter    map, weight -> image      a transposed convolution; an ordinary one's gradient
//   correlate  image, map -> weight      the weight's gradient of both
#include <algorithm>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/windows.h"

namespace recut {
namespace {

// Everything in three spatial dimensions, of which the first may have one element.
struct ConvolutionGeometry {
  std::int64_t samples = 1, channels = 0, outputs = 0, groups = 1;
  Triple image{1, 1, 1}, map{1, 1, 1}, kernel{1, 1, 1};
  Triple stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};

  std::int64_t image_size() const { return volume(image); }
  std::int64_t map_size() const { return volume(map); }
  std::int64_t kernel_size() const { return volume(kernel); }
  std::int64_t window() const { return channels / groups * kernel_size(); }  // a group's weights
};

ConvolutionGeometry geometry_of(const Call& call, const Shape& image, const Shape& map,
                                const Shape& weight) {
  const std::size_t dims = weight.size() - 2;
  ConvolutionGeometry g;
  if (image.size() == dims + 2) g.samples = image[0];
  g.channels = image[image.size() - dims - 1];
  g.outputs = map[map.size() - dims - 1];
  g.groups = call.integer("groups");
  g.image = spatial_triple(image, dims);
  g.map = spatial_triple(map, dims);
  g.kernel = spatial_triple(weight, dims);
  g.stride = attribute_triple(call, "stride", dims, 1);
  g.padding = attribute_triple(call, "padding", dims, 0);
  g.dilation = attribute_triple(call, "dilation", dims, 1);
  return g;
}

// Positions of the map that are unfolded at once: their columns fit in the second-level cache, and
// never take more than kMaxColumns numbers.
constexpr std::int64_t kChunk = 256;
constexpr std::int64_t kMaxColumns = std::int64_t{1} << 22;

// Calls visit(row of columns, column, index in the image) for every weight of one group's window
// and every position [begin, end) of the map, except where the weight falls on padding.
template <class Visit>
void for_each_tap(const ConvolutionGeometry& g, std::int64_t begin, std::int64_t end,
                  Visit&& visit) {
  std::vector<Triple> corners;
  for (std::int64_t p = begin; p < end; ++p) {
    const Triple at = unflatten(p, g.map);
    Triple corner;
    for (std::size_t d = 0; d < 3; ++d) corner[d] = at[d] * g.stride[d] - g.padding[d];
    corners.push_back(corner);
  }
  for (std::int64_t row = 0; row < g.window(); ++row) {
    Triple tap_offset = unflatten(row % g.kernel_size(), g.kernel);
    for (std::size_t d = 0; d < 3; ++d) tap_offset[d] *= g.dilation[d];
    const std::int64_t plane = row / g.kernel_size() * g.image_size();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const std::int64_t z = corners[i][0] + tap_offset[0];
      const std::int64_t y = corners[i][1] + tap_offset[1];
      const std::int64_t x = corners[i][2] + tap_offset[2];
      if (z < 0 || z >= g.image[0] || y < 0 || y >= g.image[1] || x < 0 || x >= g.image[2])
        continue;
      visit(row, static_cast<std::int64_t>(i), plane + (z * g.image[1] + y) * g.image[2] + x);
    }
  }
}

// Calls visit(sample, group, begin, end) for chunks of the map's positions.
template <class Visit>
void for_each_chunk(const ConvolutionGeometry& g, Visit&& visit) {
  if (g.outputs == 0 || g.window() == 0) return;
  const std::int64_t chunk = std::clamp<std::int64_t>(kMaxColumns / g.window(), 1, kChunk);
  for (std::int64_t n = 0; n < g.samples; ++n)
    for (std::int64_t group = 0; group < g.groups; ++group)
      for (std::int64_t p = 0; p < g.map_size(); p += chunk)
        visit(n, group, p, std::min(p + chunk, g.map_size()));
}

// Offsets of a sample's group in an image and in a map.
std::int64_t image_base(const ConvolutionGeometry& g, std::int64_t n, std::int64_t group) {
  return (n * g.channels + group * (g.channels / g.groups)) * g.image_size();
}
std::int64_t map_base(const ConvolutionGeometry& g, std::int64_t n, std::int64_t group) {
  return (n * g.outputs + group * (g.outputs / g.groups)) * g.map_size();
}

// im2col: the windows of positions [begin, end) as columns [window, end - begin].
std::vector<double> unfold(const ConvolutionGeometry& g, const double* image, std::int64_t begin,
                           std::int64_t end) {
  const std::int64_t width = end - begin;
  std::vector<double> columns(static_cast<std::size_t>(g.window() * width), 0.0);
  for_each_tap(g, begin, end, [&](std::int64_t row, std::int64_t column, std::int64_t position) {
    columns[static_cast<std::size_t>(row * width + column)] = image[position];
  });
  return columns;
}

void gather(const ConvolutionGeometry& g, const Reals& image, const Reals& weight, Reals& map) {
  const std::int64_t outputs = g.outputs / g.groups;
  for_each_chunk(g, [&](std::int64_t n, std::int64_t group, std::int64_t begin, std::int64_t end) {
    const auto columns = unfold(g, image.data.data() + image_base(g, n, group), begin, end);
    multiply_add(outputs, g.window(), end - begin,
                 {weight.data.data() + group * outputs * g.window(), g.window()},
                 {columns.data(), end - begin}, map.data.data() + map_base(g, n, group) + begin,
                 g.map_size());
  });
}

void scatter(const ConvolutionGeometry& g, const Reals& map, const Reals& weight, Reals& image) {
  const std::int64_t outputs = g.outputs / g.groups;
  std::vector<double> transposed_weight(static_cast<std::size_t>(outputs * g.window()));
  for_each_chunk(g, [&](std::int64_t n, std::int64_t group, std::int64_t begin, std::int64_t end) {
    const std::int64_t width = end - begin;
    std::vector<double> columns(static_cast<std::size_t>(g.window() * width), 0.0);
    transpose(outputs, g.window(), weight.data.data() + group * outputs * g.window(),
              transposed_weight.data());
    multiply_add(g.window(), outputs, width, {transposed_weight.data(), outputs},
                 {map.data.data() + map_base(g, n, group) + begin, g.map_size()}, columns.data(),
                 width);
    double* to = image.data.data() + image_base(g, n, group);
    for_each_tap(g, begin, end, [&](std::int64_t row, std::int64_t column, std::int64_t position) {
      to[position] += columns[static_cast<std::size_t>(row * width + column)];
    });
  });
}

void correlate(const ConvolutionGeometry& g, const Reals& image, const Reals& map, Reals& weight) {
  const std::int64_t outputs = g.outputs / g.groups;
  for_each_chunk(g, [&](std::int64_t n, std::int64_t group, std::int64_t begin, std::int64_t end) {
    const std::int64_t width = end - begin;
    const auto columns = unfold(g, image.data.data() + image_base(g, n, group), begin, end);
    std::vector<double> windows(columns.size());
    transpose(g.window(), width, columns.data(), windows.data());
    multiply_add(outputs, width, g.window(),
                 {map.data.data() + map_base(g, n, group) + begin, g.map_size()},
                 {windows.data(), g.window()}, weight.data.data() + group * outputs * g.window(),
                 g.window());
  });
}

bool is_transposed(const Call& call) {
  if (call.op().parameter("transposed")) return call.boolean("transposed");
  return call.op().parameter("output_padding").has_value();
}

// The sum over each channel, and its transpose: a bias broadcast over the channel.
std::int64_t channel_of(std::int64_t i, std::int64_t channels, std::int64_t size) {
  return i / size % channels;
}

Reals convolved(KernelContext& c) {
  const Reals input = c.reals("input");
  const Reals weight = c.reals("weight");
  Reals out(c.output_types[0].shape);
  const bool transposed = is_transposed(c.call);
  const ConvolutionGeometry g = transposed
                                    ? geometry_of(c.call, out.shape, input.shape, weight.shape)
                                    : geometry_of(c.call, input.shape, out.shape, weight.shape);
  if (transposed)
    scatter(g, input, weight, out);
  else
    gather(g, input, weight, out);
  if (c.call.is_tensor("bias")) {
    const Reals bias = c.reals("bias");
    const std::int64_t size = transposed ? g.image_size() : g.map_size();
    for (std::int64_t i = 0; i < out.count(); ++i)
      out[i] += bias[channel_of(i, bias.count(), size)];
  }
  return out;
}

Result<Done> convolution(KernelContext& c) {
  c.write(convolved(c));
  return Done{};
}

// A NaN stays: it is neither below nor above a bound.
Result<Done> clamped_convolution(KernelContext& c) {
  Reals out = convolved(c);
  if (c.call.is_tensor("addend")) {
    const Reals addend = c.reals("addend");
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] += addend[i];
  }
  const auto low = c.call.maybe_scalar("low"), high = c.call.maybe_scalar("high");
  for (double& value : out.data) {
    if (low && value < low->real) value = low->real;
    if (high && value > high->real) value = high->real;
  }
  c.write(out);
  return Done{};
}

// Sums of so small whole numbers in doubles are exact.
Result<Done> int_convolution(KernelContext& c) {
  Reals input = c.reals("input");
  const Reals weight = c.reals("weight");
  const auto zero_point = static_cast<double>(c.call.integer("zero_point"));
  for (double& number : input.data) number -= zero_point;
  Reals sums(c.output_types[0].shape);
  gather(geometry_of(c.call, input.shape, sums.shape, weight.shape), input, weight, sums);
  Integers out(sums.shape);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = static_cast<std::int64_t>(sums[i]);
  c.write(out);
  return Done{};
}

Result<Done> convolution_backward(KernelContext& c) {
  const Reals grad = c.reals("grad_output");
  const Reals input = c.reals("input");
  const Reals weight = c.reals("weight");
  const bool transposed = c.call.boolean("transposed");
  const ConvolutionGeometry g = transposed
                                    ? geometry_of(c.call, grad.shape, input.shape, weight.shape)
                                    : geometry_of(c.call, input.shape, grad.shape, weight.shape);
  if (c.requested(0)) {
    Reals grad_input(input.shape);
    if (transposed)
      gather(g, grad, weight, grad_input);
    else
      scatter(g, grad, weight, grad_input);
    c.write(grad_input, 0);
  }
  if (c.requested(1)) {
    Reals grad_weight(weight.shape);
    if (transposed)
      correlate(g, grad, input, grad_weight);
    else
      correlate(g, input, grad, grad_weight);
    c.write(grad_weight, 1);
  }
  if (c.requested(2)) {
    Reals grad_bias(c.output_types[2].shape);
    const std::int64_t size = transposed ? g.image_size() : g.map_size();
    for (std::int64_t i = 0; i < grad.count(); ++i)
      grad_bias[channel_of(i, grad_bias.count(), size)] += grad[i];
    c.write(grad_bias, 2);
  }
  return Done{};
}

}  // namespace

void add_convolution_kernels(KernelTable& t) {
  for (const Op op : {Op::convolution, Op::_convolution, Op::conv1d, Op::conv2d, Op::conv3d,
                      Op::conv_transpose1d, Op::conv_transpose2d_input, Op::conv_transpose3d_input})
    t.add(op, convolution);
  t.add(Op::recut_clamped_convolution, clamped_convolution);
  t.add(Op::recut_int_convolution, int_convolution);
  t.add(Op::convolution_backward, convolution_backward);
}

}  // namespace recut

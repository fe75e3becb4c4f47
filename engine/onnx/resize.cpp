// Resize. Nearest and linear modes become PyTorch's upsample operators where their coordinates
// agree. Otherwise each axis is resampled by index_select with constant indices and weights, which
// covers every coordinate_transformation_mode.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

struct Axis {
  std::int64_t axis, from, to;
  double scale;  // to over from, or as given
};

// Most elements along one axis that are listed one by one.
constexpr std::int64_t kMaxResampled = 1 << 24;

void check_listed(const Lowering& node, const Axis& axis) {
  if (axis.to > kMaxResampled)
    node.refuse(fmt::format("{} elements along axis {}, at most {} are resampled by their indices",
                            axis.to, axis.axis, kMaxResampled));
}

// Where elements come from, and which input has the scales.
struct Sampling {
  std::string mode, coordinates, rounding;
  std::size_t scales = 2, sizes = 3;
};

// Values that stand for the axes in attribute `axes` (opset 18), or for all; `values` of the others.
template <class T>
std::vector<T> of_all_axes(const Lowering& node, const std::vector<T>& given,
                           std::vector<T> values) {
  Ints axes(values.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.integers("axes", axes);
  if (given.size() != axes.size()) node.refuse("not one size or scale a dimension");
  for (std::size_t i = 0; i < axes.size(); ++i)
    values[static_cast<std::size_t>(node.axis(axes[i], node.rank(0)))] = given[i];
  return values;
}

// Scales are f32, and so is the product: 5 times 2.6 are 13 elements, as in onnxruntime.
double scaled_size(std::int64_t size, double scale) {
  return std::floor(static_cast<float>(size) * static_cast<float>(scale));
}

// The axes whose size changes.
std::vector<Axis> changed_axes(const Lowering& node, const Sampling& sampling) {
  const Shape& shape = node.type(0).shape;
  const auto filled = [&](std::size_t input) {
    return node.has(input) && element_count(node.type(input).shape) != 0;
  };
  const bool by_sizes = filled(sampling.sizes);
  if (!by_sizes && !filled(sampling.scales)) node.refuse("neither sizes nor scales");
  const Ints sizes =
      by_sizes ? of_all_axes(node, node.integers(sampling.sizes, "sizes"), shape) : Ints();
  const auto scales = by_sizes ? std::vector<double>()
                               : of_all_axes(node, as_reals(node.known(sampling.scales, "scales")),
                                             std::vector<double>(shape.size(), 1));
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto from = static_cast<double>(shape[i]);
    const double scale = by_sizes ? static_cast<double>(sizes[i]) / std::max(from, 1.0) : scales[i];
    const double to = by_sizes ? static_cast<double>(sizes[i]) : scaled_size(shape[i], scale);
    if (!(from >= 1 && scale > 0 && to >= 1 && to < 1e9))
      node.refuse(fmt::format("a scale of {}", scale));
    if (scale != 1)
      axes.push_back(
          {static_cast<std::int64_t>(i), shape[i], static_cast<std::int64_t>(to), scale});
  }
  return axes;
}

// The input coordinate of an output element's centre.
double source(const Lowering& node, const std::string& mode, const Axis& axis, std::int64_t i) {
  const auto x = static_cast<double>(i);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners")
    return axis.to == 1 ? 0
                        : x * static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1);
  if (mode == "pytorch_half_pixel" && axis.to == 1) return 0;
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel" || mode == "pytorch_half_pixel") return half_pixel;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  // half_pixel, with the rounding of the output size spread evenly over both ends.
  if (mode == "half_pixel_symmetric") {
    const auto from = static_cast<double>(axis.from);
    return from / 2 * (1 - static_cast<double>(axis.to) / (axis.scale * from)) + half_pixel;
  }
  node.refuse(fmt::format("coordinate_transformation_mode '{}'", mode));
}

// Before opset 11 the rounding was left open: kOlderRounding is onnxruntime's.
constexpr const char* kOlderRounding = "floor, or ceil where the axis shrinks";

double rounded(const Lowering& node, const std::string& mode, const Axis& axis, double x) {
  if (mode == kOlderRounding) return axis.scale < 1 ? std::ceil(x) : std::floor(x);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  node.refuse(fmt::format("nearest_mode '{}'", mode));
}

bool only_spatial(const std::vector<Axis>& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.axis >= 2; });
}

Ints spatial_sizes(const Lowering& node, const std::vector<Axis>& axes) {
  Ints sizes(node.type(0).shape.begin() + 2, node.type(0).shape.end());
  for (const Axis& axis : axes) sizes[static_cast<std::size_t>(axis.axis - 2)] = axis.to;
  return sizes;
}

NodeId selected(Lowering& node, NodeId id, const Axis& axis, const Ints& indices) {
  return node.make(Op::index_select, {id, axis.axis, node.constant(integers_tensor(indices))});
}

// Integer factors use PyTorch's operator; other cases gather by computed indices.
NodeId nearest(Lowering& node, const Sampling& sampling, const std::vector<Axis>& axes) {
  const std::string& mode = sampling.coordinates;
  const std::string& rounding = sampling.rounding;
  const bool whole = std::all_of(axes.begin(), axes.end(), [](const Axis& a) {
    return a.scale == std::floor(a.scale) && a.to == a.from * static_cast<std::int64_t>(a.scale);
  });
  const bool floors = rounding == "floor" || rounding == kOlderRounding;
  if (whole && mode == "asymmetric" && floors && node.rank(0) == 4 && only_spatial(axes))
    return node.make(Op::upsample_nearest2d, {node.in(0), Argument(spatial_sizes(node, axes))});
  NodeId id = node.in(0);
  for (const Axis& axis : axes) {
    check_listed(node, axis);
    Ints indices;
    for (std::int64_t i = 0; i < axis.to; ++i) {
      const double at = rounded(node, rounding, axis, source(node, mode, axis, i));
      indices.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, axis.from - 1));
    }
    id = selected(node, id, axis, indices);
  }
  return id;
}

// PyTorch has an operator for one to three spatial dimensions. It takes the middle where one
// element remains, which pytorch_half_pixel doesn't.
bool has_linear_operator(const std::string& mode, const std::vector<Axis>& axes,
                         std::int64_t rank) {
  const bool one_left =
      std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.to == 1; });
  return rank >= 3 && rank <= 5 && only_spatial(axes) &&
         (mode == "align_corners" || mode == "half_pixel" ||
          (mode == "pytorch_half_pixel" && !one_left));
}

NodeId linear_by_operator(Lowering& node, bool corners, const std::vector<Axis>& axes) {
  constexpr Op kOperators[] = {Op::upsample_linear1d, Op::upsample_bilinear2d,
                               Op::upsample_trilinear3d};
  std::vector<Argument> arguments{node.in(0), Argument(spatial_sizes(node, axes)), corners};
  const auto scale = [&](std::int64_t axis) {
    for (const Axis& a : axes)
      if (a.axis == axis) return Argument(a.scale);
    return Argument(None{});
  };
  for (std::int64_t axis = 2; axis < node.rank(0); ++axis) arguments.push_back(scale(axis));
  return node.make(kOperators[node.rank(0) - 3], std::move(arguments));
}

// Elements times one weight for each place along an axis.
NodeId weighted(Lowering& node, NodeId elements, const Axis& axis,
                const std::vector<double>& weights) {
  const DType dtype = node.type(elements).dtype == DType::f64 ? DType::f64 : DType::f32;
  Shape shape(static_cast<std::size_t>(node.rank(0) - axis.axis), 1);
  shape[0] = axis.to;
  return node.make(Op::mul_Tensor, {elements, node.constant(reals_tensor(weights, shape, dtype))});
}

// Linear interpolation along one axis: two gathers and a weighted sum.
NodeId linear_along(Lowering& node, NodeId id, const std::string& mode, const Axis& axis) {
  check_listed(node, axis);
  Ints below, above;
  std::vector<double> shares, rests;  // of the elements above and below
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const double at =
        std::clamp(source(node, mode, axis, i), 0.0, static_cast<double>(axis.from - 1));
    below.push_back(static_cast<std::int64_t>(at));
    above.push_back(std::min(below.back() + 1, axis.from - 1));
    shares.push_back(at - std::floor(at));
    rests.push_back(1 - shares.back());
  }
  const NodeId lower = selected(node, id, axis, below);
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0; }))
    return lower;
  const NodeId first = weighted(node, lower, axis, rests);
  const NodeId second = weighted(node, selected(node, id, axis, above), axis, shares);
  return node.make(Op::add_Tensor, {first, second});
}

NodeId linear(Lowering& node, const std::string& mode, const std::vector<Axis>& axes) {
  const DType dtype = node.type(0).dtype;
  if (!is_floating(dtype)) node.refuse("linear interpolation of integers");
  if (has_linear_operator(mode, axes, node.rank(0)))
    return linear_by_operator(node, mode == "align_corners", axes);
  NodeId id = node.in(0);
  for (const Axis& axis : axes) id = linear_along(node, id, mode, axis);
  return node.convert(id, dtype);
}

// The weights of the four elements around a coordinate, `share` behind the second (Keys 1981).
std::array<double, 4> cubic_weights(double share, double a) {
  const auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(share + 1), near(share), near(1 - share), far(2 - share)};
}

// Cubic interpolation along one axis: four gathers and a weighted sum.
NodeId cubic_along(Lowering& node, NodeId id, const std::string& mode, const Axis& axis) {
  check_listed(node, axis);
  const double a = node.real("cubic_coeff_a", -0.75F);
  const bool inside_only = node.integer("exclude_outside", 0) != 0;
  std::array<Ints, 4> indices;
  std::array<std::vector<double>, 4> weights;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const double at = source(node, mode, axis, i), floor = std::floor(at);
    std::array<double, 4> shares = cubic_weights(at - floor, a);
    double sum = 0;
    for (std::size_t tap = 0; tap < 4; ++tap) {
      const double index = floor - 1 + static_cast<double>(tap);
      const double last = static_cast<double>(axis.from - 1);
      if (inside_only && (index < 0 || index > last)) shares[tap] = 0;
      sum += shares[tap];
      indices[tap].push_back(static_cast<std::int64_t>(std::clamp(index, 0.0, last)));
    }
    for (std::size_t tap = 0; tap < 4; ++tap)
      weights[tap].push_back(inside_only ? shares[tap] / sum : shares[tap]);
  }
  NodeId result;
  for (std::size_t tap = 0; tap < 4; ++tap) {
    const NodeId part = weighted(node, selected(node, id, axis, indices[tap]), axis, weights[tap]);
    result = tap == 0 ? part : node.make(Op::add_Tensor, {result, part});
  }
  return result;
}

NodeId cubic(Lowering& node, const std::string& mode, const std::vector<Axis>& axes) {
  const DType dtype = node.type(0).dtype;
  if (!is_floating(dtype)) node.refuse("cubic interpolation of integers");
  NodeId id = node.in(0);
  for (const Axis& axis : axes) id = cubic_along(node, id, mode, axis);
  return node.convert(id, dtype);
}

Lowered resampled(Lowering& node, const Sampling& sampling) {
  const std::vector<Axis> axes = changed_axes(node, sampling);
  if (axes.empty()) return {node.value(0)};
  if (sampling.mode == "nearest") return Lowering::one(node, nearest(node, sampling, axes));
  if (sampling.mode == "linear")
    return Lowering::one(node, linear(node, sampling.coordinates, axes));
  if (sampling.mode != "cubic") node.refuse(fmt::format("mode '{}'", sampling.mode));
  return Lowering::one(node, cubic(node, sampling.coordinates, axes));
}

Lowered resize(Lowering& node) {
  if (node.integer("antialias", 0) != 0) node.refuse("antialias");
  if (node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    node.refuse("a keep_aspect_ratio_policy other than 'stretch'");
  return resampled(node, {node.text("mode", "nearest"),
                          node.text("coordinate_transformation_mode", "half_pixel"),
                          node.text("nearest_mode", "round_prefer_floor")});
}

// Upsample, and Resize of opset 10: by scales in input 1, without a choice of coordinates.
Lowered older_resize(Lowering& node) {
  return resampled(node, {node.text("mode", "nearest"), "asymmetric", kOlderRounding, 1, 2});
}

}  // namespace

std::vector<OperatorLowering> resize_lowerings() {
  return {{"Resize", resize}, {"Resize", older_resize, 11}, {"Upsample", older_resize, 10}};
}

}  // namespace recut::onnx

// Resize: images of another size.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "native/onnx/lowering.h"

namespace recut::native {
namespace {

using Ints = std::vector<std::int64_t>;

struct Axis {
  std::int64_t axis, from, to;
  double scale;  // to over from, or as given
};

// The axes that change, by sizes or by scales.
std::vector<Axis> changed_axes(const Lowering& node) {
  const Shape& shape = node.type(0).shape;
  const bool by_sizes = node.has(3) && element_count(node.type(3).shape) != 0;
  if (!by_sizes && (!node.has(2) || element_count(node.type(2).shape) == 0))
    node.refuse("neither sizes nor scales");
  if (node.given("axes")) node.refuse("axes; expected sizes or scales of all dimensions");
  const Ints sizes = by_sizes ? node.integers(3, "sizes") : Ints();
  const auto scales = by_sizes ? std::vector<double>() : as_reals(node.known(2, "scales"));
  if (sizes.size() + scales.size() != shape.size())
    node.refuse("not one size or scale a dimension");
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto from = static_cast<double>(shape[i]);
    const double scale = by_sizes ? static_cast<double>(sizes[i]) / std::max(from, 1.0) : scales[i];
    const double to = by_sizes ? static_cast<double>(sizes[i]) : std::floor(from * scale);
    if (!(scale > 0 && to >= 1 && to < 1e9)) node.refuse(fmt::format("a scale of {}", scale));
    if (scale != 1)
      axes.push_back(
          {static_cast<std::int64_t>(i), shape[i], static_cast<std::int64_t>(to), scale});
  }
  return axes;
}

// Where the centre of an element comes from, in the input's elements.
double source(const Lowering& node, const std::string& mode, const Axis& axis, std::int64_t i) {
  const auto x = static_cast<double>(i);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners")
    return axis.to == 1 ? 0
                        : x * static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1);
  if (mode == "pytorch_half_pixel" && axis.to == 1) return 0;
  if (mode == "half_pixel" || mode == "pytorch_half_pixel") return (x + 0.5) / axis.scale - 0.5;
  node.refuse(fmt::format("coordinate_transformation_mode '{}'", mode));
}

double rounded(const Lowering& node, const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  node.refuse(fmt::format("nearest_mode '{}'", mode));
}

bool only_last(const std::vector<Axis>& axes, std::int64_t rank, std::int64_t count) {
  return rank == count + 2 &&
         std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.axis >= 2; });
}

Ints spatial_sizes(const Lowering& node, const std::vector<Axis>& axes) {
  Ints sizes(node.type(0).shape.begin() + 2, node.type(0).shape.end());
  for (const Axis& axis : axes) sizes[static_cast<std::size_t>(axis.axis - 2)] = axis.to;
  return sizes;
}

// The usual doubling, for which PyTorch has an operator; else index by index, as the mode says.
NodeId nearest(Lowering& node, const std::vector<Axis>& axes) {
  const std::string mode = node.text("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = node.text("nearest_mode", "round_prefer_floor");
  const bool whole = std::all_of(axes.begin(), axes.end(), [](const Axis& a) {
    return a.scale == std::floor(a.scale) && a.to == a.from * static_cast<std::int64_t>(a.scale);
  });
  if (whole && mode == "asymmetric" && rounding == "floor" && only_last(axes, node.rank(0), 2))
    return node.make(Op::upsample_nearest2d, {node.in(0), Argument(spatial_sizes(node, axes))});
  NodeId id = node.in(0);
  for (const Axis& axis : axes) {
    Ints indices;
    for (std::int64_t i = 0; i < axis.to; ++i) {
      const double at = rounded(node, rounding, source(node, mode, axis, i));
      indices.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, axis.from - 1));
    }
    id = node.make(Op::index_select, {id, axis.axis, node.constant(integers_tensor(indices))});
  }
  return id;
}

NodeId linear(Lowering& node, const std::vector<Axis>& axes) {
  const std::string mode = node.text("coordinate_transformation_mode", "half_pixel");
  const bool corners = mode == "align_corners";
  if (!corners && mode != "half_pixel" && mode != "pytorch_half_pixel")
    node.refuse(fmt::format("coordinate_transformation_mode '{}' of linear interpolation", mode));
  std::vector<Argument> arguments{node.in(0), Argument(spatial_sizes(node, axes)), corners};
  const auto scale = [&](std::int64_t axis) {
    for (const Axis& a : axes)
      if (a.axis == axis) return Argument(a.scale);
    return Argument(None{});
  };
  for (std::int64_t axis = 2; axis < node.rank(0); ++axis) arguments.push_back(scale(axis));
  if (only_last(axes, node.rank(0), 1))
    return node.make(Op::upsample_linear1d, std::move(arguments));
  if (only_last(axes, node.rank(0), 2))
    return node.make(Op::upsample_bilinear2d, std::move(arguments));
  node.refuse("linear interpolation of other than the last one or two dimensions");
}

Lowered resize(Lowering& node) {
  if (node.integer("antialias", 0) != 0) node.refuse("antialias");
  if (node.rank(0) < 3) node.refuse("an input without spatial dimensions");
  const std::vector<Axis> axes = changed_axes(node);
  const std::string mode = node.text("mode", "nearest");
  if (axes.empty()) return {node.value(0)};
  if (mode == "nearest") return Lowering::one(node, nearest(node, axes));
  if (mode != "linear") node.refuse(fmt::format("mode '{}'", mode));
  for (const Axis& axis : axes)
    if (axis.axis < 2) node.refuse("linear interpolation of batch or channels");
  return Lowering::one(node, linear(node, axes));
}

}  // namespace

std::vector<Row> resize_rows() { return {{"Resize", resize}}; }

}  // namespace recut::native

// Convolutions and pooling: operators that move a window over one to three spatial dimensions.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "native/onnx/lowering.h"

namespace recut::native {
namespace {

using Ints = std::vector<std::int64_t>;

// The attributes that all of them share, one entry a spatial dimension.
struct Window {
  Ints kernel, stride, dilation, before, after;
  bool ceil = false;

  bool symmetric() const { return before == after; }
  std::size_t dimensions() const { return kernel.size(); }
};

Ints per_dimension(const Lowering& node, std::string_view name, std::size_t dimensions,
                   std::int64_t otherwise, std::int64_t least) {
  Ints values = node.integers(name, Ints(dimensions, otherwise));
  if (values.size() != dimensions)
    node.refuse(fmt::format("{} {}, expected one for each of {} spatial dimensions", values.size(),
                            name, dimensions));
  for (const std::int64_t v : values)
    if (v < least || v > 1'000'000'000) node.refuse(fmt::format("{} of {}", name, v));
  return values;
}

// SAME: as many outputs as the stride needs to come round; the odd element at the end (UPPER) or at
// the beginning (LOWER).
void pad_alike(const Lowering& node, const std::string& mode, Window& window) {
  const Shape& shape = node.type(0).shape;
  for (std::size_t i = 0; i < window.dimensions(); ++i) {
    const std::int64_t size = shape[i + 2], stride = window.stride[i];
    const std::int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    const std::int64_t outputs = (size + stride - 1) / stride;
    const std::int64_t pads = std::max<std::int64_t>(0, (outputs - 1) * stride + reach - size);
    window.before[i] = mode == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
    window.after[i] = pads - window.before[i];
  }
}

Window window_of(const Lowering& node, const Ints& kernel) {
  const auto dimensions = static_cast<std::size_t>(node.rank(0)) - 2;
  if (node.rank(0) < 3 || node.rank(0) > 5)
    node.refuse(fmt::format("an input of {} dimensions, expected 3 to 5", node.rank(0)));
  Window window;
  window.kernel = per_dimension(node, "kernel_shape", dimensions, 1, 1);
  if (!node.given("kernel_shape")) window.kernel = kernel;
  if (window.kernel.size() != dimensions)
    node.refuse("its kernel has other dimensions than its input");
  window.stride = per_dimension(node, "strides", dimensions, 1, 1);
  window.dilation = per_dimension(node, "dilations", dimensions, 1, 1);
  Ints pads = node.integers("pads", Ints(2 * dimensions, 0));
  if (pads.size() != 2 * dimensions) node.refuse(fmt::format("{} pads", pads.size()));
  for (const std::int64_t p : pads)
    if (p < 0 || p > 1'000'000'000) node.refuse(fmt::format("a pad of {}", p));
  window.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(dimensions));
  window.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(dimensions), pads.end());
  window.ceil = node.integer("ceil_mode", 0) != 0;
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    pad_alike(node, mode, window);
  else if (mode != "NOTSET" && mode != "VALID")
    node.refuse(fmt::format("auto_pad '{}'", mode));
  return window;
}

// The input with the window's padding around it, which the window then lacks.
NodeId padded(Lowering& node, NodeId id, Window& window, double value) {
  Ints pairs;
  for (std::size_t i = window.dimensions(); i-- > 0;) {
    pairs.push_back(window.before[i]);
    pairs.push_back(window.after[i]);
  }
  std::fill(window.before.begin(), window.before.end(), 0);
  std::fill(window.after.begin(), window.after.end(), 0);
  return node.make(Op::constant_pad_nd, {id, Argument(pairs), value});
}

Lowered convolution(Lowering& node) {
  const Shape& weight = node.type(1).shape;
  if (weight.size() < 3) node.refuse("a weight of fewer than three dimensions");
  Window window = window_of(node, Ints(weight.begin() + 2, weight.end()));
  if (window.kernel != Ints(weight.begin() + 2, weight.end()))
    node.refuse("kernel_shape is another than its weight's");
  NodeId x = node.in(0);
  if (!window.symmetric()) x = padded(node, x, window, 0);
  const NodeId w = node.in(1);
  const Argument bias = node.has(2) ? Argument(node.in(2)) : Argument(None{});
  return Lowering::one(
      node, node.make(Op::convolution,
                      {x, w, bias, Argument(window.stride), Argument(window.before),
                       Argument(window.dilation), false, Argument(Ints(window.dimensions(), 0)),
                       node.integer("group", 1)}));
}

Lowered convolution_transposed(Lowering& node) {
  const Shape& weight = node.type(1).shape;
  if (weight.size() < 3) node.refuse("a weight of fewer than three dimensions");
  if (node.given("output_shape")) node.refuse("output_shape; expected pads");
  const Window window = window_of(node, Ints(weight.begin() + 2, weight.end()));
  if (!window.symmetric()) node.refuse("padding that differs at both ends of a dimension");
  const NodeId x = node.in(0), w = node.in(1);
  const Argument bias = node.has(2) ? Argument(node.in(2)) : Argument(None{});
  const Ints extra = per_dimension(node, "output_padding", window.dimensions(), 0, 0);
  return Lowering::one(
      node, node.make(Op::convolution, {x, w, bias, Argument(window.stride),
                                        Argument(window.before), Argument(window.dilation), true,
                                        Argument(extra), node.integer("group", 1)}));
}

// One spatial dimension is pooled as two, of which the first is a single row.
struct Planes {
  NodeId id;
  Window window;
  bool widened = false;
};

Ints with_first(std::int64_t first, const Ints& rest) {
  Ints values{first};
  for (const std::int64_t v : rest) values.push_back(v);
  return values;
}

Planes planes_of(Lowering& node, NodeId id, const Window& window) {
  if (window.dimensions() != 1) return {id, window, false};
  const Window wide{with_first(1, window.kernel),   with_first(1, window.stride),
                    with_first(1, window.dilation), with_first(0, window.before),
                    with_first(0, window.after),    window.ceil};
  return {node.make(Op::unsqueeze, {id, 2}), wide, true};
}

Lowered narrowed(Lowering& node, const Planes& planes, NodeId id) {
  return Lowering::one(node, planes.widened ? node.make(Op::squeeze_dim, {id, 2}) : id);
}

Lowered max_pool(Lowering& node) {
  if (node.outputs() > 1) node.refuse("indices are asked for");
  if (node.integer("storage_order", 0) != 0) node.refuse("storage_order 1");
  Window window = window_of(node, {});
  NodeId x = node.in(0);
  const auto too_far = [&] {
    for (std::size_t i = 0; i < window.dimensions(); ++i)
      if (2 * window.before[i] > window.kernel[i]) return true;
    return false;
  };
  if (!window.symmetric() || too_far())
    x = padded(node, x, window, -std::numeric_limits<double>::infinity());
  const Planes planes = planes_of(node, x, window);
  const Window& w = planes.window;
  const Op op = w.dimensions() == 2 ? Op::max_pool2d_with_indices : Op::max_pool3d_with_indices;
  const NodeId both = node.make(op, {planes.id, Argument(w.kernel), Argument(w.stride),
                                     Argument(w.before), Argument(w.dilation), w.ceil});
  return narrowed(node, planes, node.item(both, 0));
}

Lowered average_pool(Lowering& node) {
  Window window = window_of(node, {});
  for (const std::int64_t d : window.dilation)
    if (d != 1) node.refuse("dilations");
  const bool count_pads = node.integer("count_include_pad", 0) != 0;
  NodeId x = node.in(0);
  if (!window.symmetric()) {
    if (!count_pads || window.ceil)
      node.refuse("padding that differs at both ends of a dimension and doesn't count");
    x = padded(node, x, window, 0);
  }
  const Planes planes = planes_of(node, x, window);
  const Window& w = planes.window;
  const Op op = w.dimensions() == 2 ? Op::avg_pool2d : Op::avg_pool3d;
  return narrowed(node, planes,
                  node.make(op, {planes.id, Argument(w.kernel), Argument(w.stride),
                                 Argument(w.before), w.ceil, count_pads}));
}

Ints spatial(const Lowering& node) {
  Ints axes;
  for (std::int64_t i = 2; i < node.rank(0); ++i) axes.push_back(i);
  if (axes.empty()) node.refuse("an input without spatial dimensions");
  return axes;
}

template <Op op>
Lowered global_pool(Lowering& node) {
  return Lowering::one(node, node.make(op, {node.in(0), Argument(spatial(node)), true}));
}

}  // namespace

std::vector<Row> window_rows() {
  return {
      {"Conv", convolution},
      {"ConvTranspose", convolution_transposed},
      {"MaxPool", max_pool},
      {"AveragePool", average_pool},
      {"GlobalAveragePool", global_pool<Op::mean_dim>},
      {"GlobalMaxPool", global_pool<Op::amax>},
  };
}

}  // namespace recut::native

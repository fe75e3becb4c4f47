// Convolutions and pooling: sliding windows over one to three spatial dimensions. PyTorch's
// operators pad both ends alike: asymmetric ONNX pads become an explicit pad before the operator,
// or a slice after a transposed convolution.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Most windows along one dimension that are counted one by one.
constexpr std::size_t kMaxWindows = 1 << 20;

// The attributes that all of them share, one entry a spatial dimension.
struct Window {
  Ints kernel, stride, dilation, before, after;
  bool ceil = false;

  bool symmetric() const { return before == after; }
  std::size_t dimensions() const { return kernel.size(); }
  std::int64_t extent(std::size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
};

Ints per_dimension(const Lowering& node, std::string_view name, std::size_t dimensions,
                   std::int64_t otherwise, std::int64_t min_value) {
  Ints values = node.integers(name, Ints(dimensions, otherwise));
  if (values.size() != dimensions)
    node.refuse(fmt::format("{} {}, expected one for each of {} spatial dimensions", values.size(),
                            name, dimensions));
  for (const std::int64_t v : values)
    if (v < min_value || v > 1'000'000'000) node.refuse(fmt::format("{} of {}", name, v));
  return values;
}

// The mode of auto_pad; each operator computes SAME pads by its own formula.
enum class AutoPad { none, upper, lower };

// Clears the window's padding if auto_pad is set: it overrides pads.
AutoPad auto_pad(const Lowering& node, Window& window) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") return AutoPad::none;
  if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    node.refuse(fmt::format("auto_pad '{}'", mode));
  window.before.assign(window.dimensions(), 0);
  window.after.assign(window.dimensions(), 0);
  if (mode == "VALID") return AutoPad::none;
  return mode == "SAME_UPPER" ? AutoPad::upper : AutoPad::lower;
}

// The part of `pads` at the beginning: an odd element is at the end (upper) or at the beginning
// (lower).
std::int64_t share_before(AutoPad mode, std::int64_t pads) {
  return mode == AutoPad::upper ? pads / 2 : pads - pads / 2;
}

Window plain_window(const Lowering& node, const Ints& kernel) {
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
  return window;
}

// SAME: ceil(size / stride) outputs.
Window window_of(const Lowering& node, const Ints& kernel) {
  Window window = plain_window(node, kernel);
  const AutoPad mode = auto_pad(node, window);
  if (mode == AutoPad::none) return window;
  const Shape& shape = node.type(0).shape;
  for (std::size_t i = 0; i < window.dimensions(); ++i) {
    const std::int64_t size = shape[i + 2], stride = window.stride[i];
    const std::int64_t outputs = (size + stride - 1) / stride;
    const std::int64_t pads =
        std::max<std::int64_t>(0, (outputs - 1) * stride + window.extent(i) - size);
    window.before[i] = share_before(mode, pads);
    window.after[i] = pads - window.before[i];
  }
  return window;
}

// Pads the input explicitly and clears the window's padding.
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

// The spatial sizes of a convolution's weight.
Ints kernel_of_weight(const Lowering& node) {
  const Shape& weight = node.type(1).shape;
  if (weight.size() < 3) node.refuse("a weight of fewer than three dimensions");
  const Ints kernel(weight.begin() + 2, weight.end());
  if (node.integers("kernel_shape", kernel) != kernel)
    node.refuse("kernel_shape is another than its weight's");
  for (const std::int64_t k : kernel)
    if (k < 1 || k > 1'000'000'000) node.refuse(fmt::format("a kernel of {}", k));
  return kernel;
}

Lowered convolution(Lowering& node) {
  Window window = window_of(node, kernel_of_weight(node));
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

// The output of one dimension of a transposed convolution. Kernels reach `whole` elements: the
// first `before` are cropped, the next `size` are the output, zero-filled beyond `whole`.
struct OutputExtent {
  std::int64_t whole, before, size;

  std::int64_t after() const { return whole - before - size; }
};

// SAME: stride outputs for each input, or as many as the kernels reach if those are fewer.
// output_shape gives the number of outputs, and pads follow from it.
std::vector<OutputExtent> output_extents(const Lowering& node, Window& window, const Ints& extra) {
  const AutoPad mode = auto_pad(node, window);
  const bool sized = node.given("output_shape");
  const Ints sizes =
      sized ? per_dimension(node, "output_shape", window.dimensions(), 1, 1) : Ints();
  std::vector<OutputExtent> extents;
  for (std::size_t i = 0; i < window.dimensions(); ++i) {
    const std::int64_t inputs = node.type(0).shape[i + 2], stride = window.stride[i];
    if (inputs < 1 || inputs > 1'000'000'000)
      node.refuse(fmt::format("a spatial dimension of {} elements", inputs));
    OutputExtent k{(inputs - 1) * stride + window.extent(i), window.before[i], 0};
    k.size = k.whole + extra[i] - window.before[i] - window.after[i];
    if (sized || mode != AutoPad::none) {
      const std::int64_t all = k.whole + extra[i], requested = sized ? sizes[i] : inputs * stride;
      const std::int64_t pads = std::max<std::int64_t>(0, all - requested);
      k.before = share_before(mode, pads);
      k.size = sized ? requested : all - pads;
    }
    if (k.size < 1) node.refuse("pads that leave no output");
    extents.push_back(k);
  }
  return extents;
}

// PyTorch's operator crops both ends alike, and output_padding is less than a stride. Other outputs
// are sliced from a larger one, or zero-filled.
struct Transposed {
  Ints padding, extra, start;
  Ints lacking;  // elements at the end that no kernel reaches

  bool lacks() const {
    return std::any_of(lacking.begin(), lacking.end(), [](std::int64_t n) { return n > 0; });
  }
};

Transposed transposed_of(const Window& window, const std::vector<OutputExtent>& extents) {
  Transposed t;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const OutputExtent& k = extents[i];
    const std::int64_t more = k.before - k.after();
    const bool fits = more < std::max(window.stride[i], window.dilation[i]);
    t.padding.push_back(fits ? k.before : std::max<std::int64_t>(0, k.after()));
    t.extra.push_back(fits ? std::max<std::int64_t>(0, more) : 0);
    const std::int64_t size = k.whole - 2 * t.padding[i] + t.extra[i];
    t.start.push_back(std::min(k.before - t.padding[i], size));
    t.lacking.push_back(std::max<std::int64_t>(0, k.size - (size - t.start[i])));
  }
  return t;
}

NodeId with_bias(Lowering& node, NodeId id, std::size_t dimensions) {
  Ints shape(dimensions + 1, 1);
  shape[0] = node.shape(id)[1];
  return node.make(Op::add_Tensor, {id, node.reshape(node.in(2), shape)});
}

Lowered convolution_transposed(Lowering& node) {
  Window window = plain_window(node, kernel_of_weight(node));
  const Ints added = per_dimension(node, "output_padding", window.dimensions(), 0, 0);
  const std::vector<OutputExtent> extents = output_extents(node, window, added);
  const Transposed t = transposed_of(window, extents);
  const bool biased = node.has(2), bias_last = biased && t.lacks();
  const NodeId x = node.in(0), w = node.in(1);
  const Argument bias = biased && !bias_last ? Argument(node.in(2)) : Argument(None{});
  NodeId id = node.make(Op::convolution, {x, w, bias, Argument(window.stride), Argument(t.padding),
                                          Argument(window.dilation), true, Argument(t.extra),
                                          node.integer("group", 1)});
  Ints pairs;
  for (std::size_t i = window.dimensions(); i-- > 0;) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const std::int64_t size = node.shape(id)[i + 2],
                       end = t.start[i] + extents[i].size - t.lacking[i];
    if (t.start[i] != 0 || end != size)
      id = node.make(Op::slice_Tensor, {id, axis, t.start[i], end, 1});
    pairs.insert(pairs.end(), {0, t.lacking[i]});
  }
  if (t.lacks()) id = node.make(Op::constant_pad_nd, {id, Argument(pairs), 0.0});
  if (bias_last) id = with_bias(node, id, window.dimensions());
  return Lowering::one(node, id);
}

// 1-D pooling as 2-D pooling with one row.
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

// PyTorch's operators pad by at most half of a window.
bool too_far(const Window& window) {
  for (std::size_t i = 0; i < window.dimensions(); ++i)
    if (2 * window.before[i] > window.kernel[i]) return true;
  return false;
}

Lowered max_pool(Lowering& node) {
  if (node.outputs() > 1) node.refuse("indices are asked for");
  if (node.integer("storage_order", 0) != 0) node.refuse("storage_order 1");
  Window window = window_of(node, {});
  NodeId x = node.in(0);
  if (!window.symmetric() || too_far(window))
    x = padded(node, x, window, -std::numeric_limits<double>::infinity());
  const Planes planes = planes_of(node, x, window);
  const Window& w = planes.window;
  const Op op = w.dimensions() == 2 ? Op::max_pool2d_with_indices : Op::max_pool3d_with_indices;
  const NodeId both = node.make(op, {planes.id, Argument(w.kernel), Argument(w.stride),
                                     Argument(w.before), Argument(w.dilation), w.ceil});
  return narrowed(node, planes, node.item(both, 0));
}

// The factor that turns a mean over a window with padding into one over its elements of the input,
// for every output: the product of the dimensions' own factors.
NodeId counted_shares(Lowering& node, const Window& window) {
  NodeId product;
  for (std::size_t i = 0; i < window.dimensions(); ++i) {
    const std::int64_t size = node.type(0).shape[i + 2], kernel = window.kernel[i];
    const std::int64_t room = size + window.before[i] + window.after[i] - kernel;
    if (room < 0) node.refuse("a window that is larger than its padded input");
    std::vector<double> shares;
    for (std::int64_t at = -window.before[i]; at <= room - window.before[i];
         at += window.stride[i]) {
      const std::int64_t inside = std::min(at + kernel, size) - std::max<std::int64_t>(at, 0);
      if (inside < 1) node.refuse("a window of nothing but padding");
      shares.push_back(static_cast<double>(kernel) / static_cast<double>(inside));
      if (shares.size() > kMaxWindows) node.refuse("too many windows with uneven padding");
    }
    Shape along(window.dimensions() - i, 1);
    along[0] = static_cast<std::int64_t>(shares.size());
    const DType dtype = node.type(0).dtype;
    const NodeId factor = node.constant(reals_tensor(shares, along, dtype));
    product = i == 0 ? factor : node.make(Op::mul_Tensor, {product, factor});
  }
  return product;
}

Lowered average_pool(Lowering& node) {
  Window window = window_of(node, {});
  for (const std::int64_t d : window.dilation)
    if (d != 1) node.refuse("dilations");
  const bool count_pads = node.integer("count_include_pad", 0) != 0;
  NodeId x = node.in(0), shares;
  if (!window.symmetric() || too_far(window)) {
    if (window.ceil)
      node.refuse("padding that is uneven or more than half of the window, and ceil_mode");
    if (!count_pads) shares = counted_shares(node, window);
    x = padded(node, x, window, 0);
  }
  const Planes planes = planes_of(node, x, window);
  const Window& w = planes.window;
  const Op op = w.dimensions() == 2 ? Op::avg_pool2d : Op::avg_pool3d;
  Lowered means = narrowed(node, planes,
                           node.make(op, {planes.id, Argument(w.kernel), Argument(w.stride),
                                          Argument(w.before), w.ceil, count_pads}));
  if (!shares.valid()) return means;
  return Lowering::one(node, node.make(Op::mul_Tensor, {means[0].node, shares}));
}

// (sum of |x|^p) ^ (1/p) over each window; padding counts as 0.
Lowered lp_pool(Lowering& node) {
  Window window = window_of(node, {});
  for (const std::int64_t d : window.dilation)
    if (d != 1) node.refuse("dilations");
  if (window.ceil) node.refuse("ceil_mode");
  const std::int64_t p = node.integer("p", 2);
  if (p < 1) node.refuse(fmt::format("p of {}", p));
  NodeId x = node.make(Op::pow_Tensor_Scalar, {node.make(Op::abs, {node.in(0)}), p});
  if (!window.symmetric() || too_far(window)) x = padded(node, x, window, 0);
  const Planes planes = planes_of(node, x, window);
  const Window& w = planes.window;
  const NodeId means = node.make(
      w.dimensions() == 2 ? Op::avg_pool2d : Op::avg_pool3d,
      {planes.id, Argument(w.kernel), Argument(w.stride), Argument(w.before), false, true});
  const NodeId sums = node.make(Op::mul_Tensor, {means, element_count(w.kernel)});
  const double root = 1 / static_cast<double>(p);
  return narrowed(node, planes, node.make(Op::pow_Tensor_Scalar, {sums, root}));
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

Lowered global_lp_pool(Lowering& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p < 1) node.refuse(fmt::format("p of {}", p));
  const NodeId powers = node.make(Op::pow_Tensor_Scalar, {node.make(Op::abs, {node.in(0)}), p});
  const NodeId sums = node.make(Op::sum_dim_IntList, {powers, Argument(spatial(node)), true});
  return Lowering::one(node, node.make(Op::pow_Tensor_Scalar, {sums, 1 / static_cast<double>(p)}));
}

}  // namespace

std::vector<OperatorLowering> window_lowerings() {
  return {
      {"Conv", convolution},
      {"ConvTranspose", convolution_transposed},
      {"MaxPool", max_pool},
      {"AveragePool", average_pool},
      {"GlobalAveragePool", global_pool<Op::mean_dim>},
      {"GlobalMaxPool", global_pool<Op::amax>},
      {"LpPool", lp_pool},
      {"GlobalLpPool", global_lp_pool},
  };
}

}  // namespace recut::onnx

// Normalisations and softmax.
#include <fmt/core.h>

#include <span>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Largest window of channels that is summed term by term.
constexpr std::int64_t kMaxChannelWindow = 1'024;

Lowered batch_normalisation(Lowering& node) {
  if (node.integer("training_mode", 0) != 0) node.refuse("it is in training mode");
  if (node.integer("spatial", 1) != 1)
    node.refuse("statistics of every element, expected one a channel (spatial 1)");
  const NodeId x = node.in(0), weight = node.in(1), bias = node.in(2);
  const NodeId mean = node.in(3), variance = node.in(4);
  const NodeId all = node.make(Op::_native_batch_norm_legit_no_training,
                               {x, weight, bias, mean, variance, 0.1, node.real("epsilon", 1e-5F)});
  return Lowering::one(node, node.item(all, 0));
}

// Instance norm is group norm with one channel a group.
Lowered instance_normalisation(Lowering& node) {
  const Shape& shape = node.type(0).shape;
  if (shape.size() < 3) node.refuse("an input without spatial dimensions");
  const NodeId x = node.in(0), weight = node.in(1), bias = node.in(2);
  const NodeId all = node.make(Op::native_group_norm, {x, weight, bias, shape[0], shape[1],
                                                       element_count(std::span(shape).subspan(2)),
                                                       shape[1], node.real("epsilon", 1e-5F)});
  return Lowering::one(node, node.item(all, 0));
}

// Before opset 21, scale and bias are one number a group; since then, one a channel.
template <bool of_groups>
Lowered group_normalisation(Lowering& node) {
  const Shape& shape = node.type(0).shape;
  const std::int64_t groups = node.integer("num_groups", 1);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    node.refuse(fmt::format("{} groups of {}", groups, format(node.type(0))));
  const auto of_channels = [&](std::size_t input) {
    const NodeId id = node.in(input);
    if (!of_groups || groups == shape[1]) return id;
    const Ints whole{groups, shape[1] / groups};
    return node.reshape(node.make(Op::expand, {node.reshape(id, {groups, 1}), Argument(whole)}),
                        {shape[1]});
  };
  const NodeId x = node.in(0), weight = of_channels(1), bias = of_channels(2);
  const NodeId all = node.make(Op::native_group_norm, {x, weight, bias, shape[0], shape[1],
                                                       element_count(std::span(shape).subspan(2)),
                                                       groups, node.real("epsilon", 1e-5F)});
  return Lowering::one(node, node.item(all, 0));
}

// x without its mean, divided by its deviation, over some axes.
Lowered mean_variance_normalisation(Lowering& node) {
  Ints axes;
  for (const std::int64_t axis : node.integers("axes", {0, 2, 3}))
    axes.push_back(node.axis(axis, node.rank(0)));
  const auto mean = [&](NodeId id) { return node.make(Op::mean_dim, {id, Argument(axes), true}); };
  const NodeId x = node.in(0);
  const NodeId centred = node.make(Op::sub_Tensor, {x, mean(x)});
  const NodeId variance = mean(node.make(Op::mul_Tensor, {centred, centred}));
  const NodeId below = node.make(Op::add_Tensor, {node.make(Op::sqrt, {variance}), 1e-9});
  return Lowering::one(node, node.make(Op::div_Tensor, {centred, below}));
}

// Normalises the axes from `axis` on; mean and 1/deviation are optional outputs.
Lowered layer_normalisation(Lowering& node) {
  const Shape& shape = node.type(0).shape;
  const std::int64_t axis = node.axis(node.integer("axis", -1), node.rank(0));
  const Ints normalised(shape.begin() + axis, shape.end());
  const auto affine = [&](std::size_t input) -> Argument {
    if (!node.has(input)) return None{};
    const NodeId id = node.in(input);
    return node.shape(id) == normalised ? id : node.make(Op::expand, {id, Argument(normalised)});
  };
  const NodeId x = node.in(0);
  const Argument weight = affine(1), bias = affine(2);
  const NodeId all = node.make(
      Op::native_layer_norm, {x, Argument(normalised), weight, bias, node.real("epsilon", 1e-5F)});
  Lowered outputs;
  for (std::size_t i = 0; i < std::min<std::size_t>(node.outputs(), 3); ++i)
    outputs.push_back(Lowering::one(node, node.item(all, static_cast<std::int64_t>(i)))[0]);
  return outputs;
}

// Along an axis of `id`.
using AlongAxis = NodeId (*)(Lowering&, NodeId id, std::int64_t axis);

template <Op op>
NodeId softmax(Lowering& node, NodeId id, std::int64_t axis) {
  return node.make(op, {id, axis, false});
}

// 1 at the first of the largest elements, 0 elsewhere.
NodeId hardmax(Lowering& node, NodeId id, std::int64_t axis) {
  const std::int64_t size = node.shape(id)[static_cast<std::size_t>(axis)];
  Shape along(node.shape(id).size(), 1);
  along[static_cast<std::size_t>(axis)] = size;
  const NodeId largest = node.make(Op::argmax, {id, axis, true});
  const NodeId positions = node.reshape(node.make(Op::arange, {size, DType::i64}), along);
  return node.convert(node.make(Op::eq_Tensor, {largest, positions}), node.type(id).dtype);
}

template <AlongAxis apply>
Lowered along_axis(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", -1), node.rank(0));
  return Lowering::one(node, apply(node, node.in(0), axis));
}

// Before opset 13, the dimensions from `axis` on count as one.
template <AlongAxis apply>
Lowered along_last_axes(Lowering& node) {
  const Shape shape = node.type(0).shape;
  std::int64_t axis = node.integer("axis", 1);
  if (axis != node.rank(0)) axis = node.axis(axis, node.rank(0));
  const std::span<const std::int64_t> sizes(shape);
  const std::int64_t rows = element_count(sizes.first(static_cast<std::size_t>(axis)));
  const std::int64_t columns = element_count(sizes.subspan(static_cast<std::size_t>(axis)));
  const NodeId matrix = node.reshape(node.in(0), {rows, columns});
  return Lowering::one(node, node.reshape(apply(node, matrix, 1), shape));
}

// x / (bias + alpha / size * the sum of squares of the `size` channels around) ^ beta.
Lowered local_response_normalisation(Lowering& node) {
  const Shape shape = node.type(0).shape;
  const std::int64_t size = node.integer("size", 0);
  if (shape.size() < 3 || size < 1 || size > kMaxChannelWindow)
    node.refuse(
        fmt::format("a window of {} channels over an input of {} dimensions", size, shape.size()));
  const NodeId x = node.in(0);
  Ints pads(2 * (shape.size() - 1), 0);
  pads[pads.size() - 2] = (size - 1) / 2;
  pads[pads.size() - 1] = size / 2;
  const NodeId squares = node.make(Op::mul_Tensor, {x, x});
  const NodeId padded = node.make(Op::constant_pad_nd, {squares, Argument(pads), 0.0});
  NodeId sum;
  for (std::int64_t i = 0; i < size; ++i) {
    const NodeId one = node.make(Op::slice_Tensor, {padded, 1, i, i + shape[1], 1});
    sum = i == 0 ? one : node.make(Op::add_Tensor, {sum, one});
  }
  const double share = node.real("alpha", 1e-4F) / static_cast<double>(size);
  const NodeId scaled = node.make(Op::mul_Tensor, {sum, share});
  const NodeId moved = node.make(Op::add_Tensor, {scaled, node.real("bias", 1)});
  const NodeId below = node.make(Op::pow_Tensor_Scalar, {moved, node.real("beta", 0.75)});
  return Lowering::one(node, node.make(Op::div_Tensor, {x, below}));
}

// x divided by the sum of its absolute values (p 1) or by its length (p 2) along an axis.
Lowered lp_normalisation(Lowering& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.refuse(fmt::format("p of {}, expected 1 or 2", p));
  const Ints axis{node.axis(node.integer("axis", -1), node.rank(0))};
  const NodeId x = node.in(0);
  const NodeId powers = p == 1 ? node.make(Op::abs, {x}) : node.make(Op::mul_Tensor, {x, x});
  const NodeId sum = node.make(Op::sum_dim_IntList, {powers, Argument(axis), true});
  const NodeId length = p == 1 ? sum : node.make(Op::sqrt, {sum});
  return Lowering::one(node, node.make(Op::div_Tensor, {x, length}));
}

}  // namespace

std::vector<OperatorLowering> normalisation_lowerings() {
  return {
      {"BatchNormalization", batch_normalisation},
      {"InstanceNormalization", instance_normalisation},
      {"GroupNormalization", group_normalisation<false>},
      {"GroupNormalization", group_normalisation<true>, 21},
      {"MeanVarianceNormalization", mean_variance_normalisation},
      {"LayerNormalization", layer_normalisation},
      {"Softmax", along_axis<softmax<Op::_softmax>>},
      {"LogSoftmax", along_axis<softmax<Op::_log_softmax>>},
      {"Hardmax", along_axis<hardmax>},
      {"Softmax", along_last_axes<softmax<Op::_softmax>>, 13},
      {"LogSoftmax", along_last_axes<softmax<Op::_log_softmax>>, 13},
      {"Hardmax", along_last_axes<hardmax>, 13},
      {"LRN", local_response_normalisation},
      {"LpNormalization", lp_normalisation},
  };
}

}  // namespace recut::onnx

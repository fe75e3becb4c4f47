// Normalisations and softmax.
#include <fmt/core.h>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

Lowered batch_normalisation(Lowering& node) {
  if (node.integer("training_mode", 0) != 0) node.refuse("it is in training mode");
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

Lowered group_normalisation(Lowering& node) {
  const Shape& shape = node.type(0).shape;
  if (shape.size() < 2 || node.type(1).shape != Shape{shape[1]})
    node.refuse("a scale that is not one number a channel");
  const NodeId x = node.in(0), weight = node.in(1), bias = node.in(2);
  const NodeId all =
      node.make(Op::native_group_norm,
                {x, weight, bias, shape[0], shape[1], element_count(std::span(shape).subspan(2)),
                 node.integer("num_groups", 1), node.real("epsilon", 1e-5F)});
  return Lowering::one(node, node.item(all, 0));
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

template <Op op>
Lowered softmax(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", -1), node.rank(0));
  return Lowering::one(node, node.make(op, {node.in(0), axis, false}));
}

}  // namespace

std::vector<OperatorLowering> normalisation_lowerings() {
  return {
      {"BatchNormalization", batch_normalisation},
      {"InstanceNormalization", instance_normalisation},
      {"GroupNormalization", group_normalisation},
      {"LayerNormalization", layer_normalisation},
      {"Softmax", softmax<Op::_softmax>},
      {"LogSoftmax", softmax<Op::_log_softmax>},
  };
}

}  // namespace recut::onnx

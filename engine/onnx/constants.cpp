// Operators whose values are compile-time constants, shapes among them.
#include <fmt/core.h>

#include "engine/eval/inputs.h"
#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

Lowered constant(Lowering& node) {
  using ::onnx::AttributeProto;
  if (const AttributeProto* value = node.find("value"); value != nullptr && value->has_t())
    return {Lowering::known_value(tensor_of(value->t()))};
  if (node.given("value_int"))
    return {Lowering::known_value(integer_tensor(node.integer("value_int", 0)))};
  if (node.given("value_ints"))
    return {Lowering::known_value(integers_tensor(node.integers("value_ints", {})))};
  if (node.given("value_float"))
    return {Lowering::known_value(reals_tensor({node.real("value_float", 0)}, {}, DType::f32))};
  if (const AttributeProto* value = node.find("value_floats"); value != nullptr) {
    const std::vector<double> reals(value->floats().begin(), value->floats().end());
    return {Lowering::known_value(
        reals_tensor(reals, {static_cast<std::int64_t>(reals.size())}, DType::f32))};
  }
  node.refuse("its value is a string, a sparse tensor or missing");
}

// The shape, sliced by the attributes start and end (opset 15).
Lowered shape(Lowering& node) {
  const Shape& whole = node.type(0).shape;
  const auto rank = static_cast<std::int64_t>(whole.size());
  const auto clamped = [&](std::string_view name, std::int64_t otherwise) {
    const std::int64_t i = node.integer(name, otherwise);
    return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const std::int64_t start = clamped("start", 0), end = std::max(start, clamped("end", rank));
  return {Lowering::known_value(integers_tensor(Ints(whole.begin() + start, whole.begin() + end)))};
}

Lowered size(Lowering& node) {
  return {Lowering::known_value(integer_tensor(element_count(node.type(0).shape)))};
}

Argument number_of(const Tensor& tensor) {
  if (is_floating(tensor.dtype)) return as_reals(tensor).at(0);
  if (tensor.dtype == DType::boolean) return as_integers(tensor).at(0) != 0;
  return as_integers(tensor).at(0);
}

Lowered constant_of_shape(Lowering& node) {
  const Ints sizes = node.integers(0, "sizes");
  Argument value = 0.0;
  DType dtype = DType::f32;
  if (const auto* given = node.find("value"); given != nullptr && given->has_t()) {
    const Tensor tensor = tensor_of(given->t());
    if (tensor.count() != 1) node.refuse("its value is no single number");
    value = number_of(tensor);
    dtype = tensor.dtype;
  }
  return Lowering::one(node, node.make(Op::full, {Argument(sizes), value, dtype}));
}

Lowered range(Lowering& node) {
  const auto number = [&](std::size_t input) {
    const Tensor& bound = node.known(input, "bounds");
    if (bound.count() != 1) node.refuse("its bounds are no single numbers");
    return number_of(bound);
  };
  return Lowering::one(node, node.make(Op::arange_start_step,
                                       {number(0), number(1), number(2), node.type(0).dtype}));
}

Lowered eye_like(Lowering& node) {
  const Shape& like = node.type(0).shape;
  const std::int64_t diagonal = node.integer("k", 0);
  if (like.size() != 2) node.refuse("an input that is no matrix");
  if (diagonal > like[1] || diagonal < -like[0])
    node.refuse(fmt::format("diagonal {} of {}", diagonal, format(node.type(0))));
  const DType dtype =
      node.given("dtype")
          ? dtype_of(static_cast<std::int32_t>(node.integer("dtype", 1)), "the result")
          : node.type(0).dtype;
  // The matrix without its first columns or rows, where another than its own diagonal is 1.
  const std::int64_t right = std::max<std::int64_t>(0, diagonal);
  const std::int64_t down = std::max<std::int64_t>(0, -diagonal);
  NodeId id = node.make(Op::eye_m, {like[0] + right, like[1] + down, dtype});
  if (right > 0) id = node.make(Op::slice_Tensor, {id, 0, right, like[0] + right, 1});
  if (down > 0) id = node.make(Op::slice_Tensor, {id, 1, down, like[1] + down, 1});
  return Lowering::one(node, id);
}

// Indices of nonzero elements, one column each. Only for constants: the count becomes a shape.
Lowered non_zero(Lowering& node) {
  const Tensor& tensor = node.known(0, "places");
  const auto values = as_reals(tensor);
  Ints rows;
  std::int64_t found = 0;
  for (const double x : values) found += x != 0 ? 1 : 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::int64_t below = element_count(std::span(tensor.shape).subspan(d + 1));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0) rows.push_back(static_cast<std::int64_t>(i) / below % tensor.shape[d]);
  }
  Integers dense(
      {tensor.shape.empty() ? 1 : static_cast<std::int64_t>(tensor.shape.size()), found});
  rows.resize(dense.data.size(), 0);
  dense.data = rows;
  Tensor result = allocate(make_type(DType::i64, dense.shape), nullptr);
  pack(dense, result);
  return {Lowering::known_value(std::move(result))};
}

}  // namespace

std::vector<OperatorLowering> constant_lowerings() {
  return {
      {"Constant", constant}, {"Shape", shape},
      {"Size", size},         {"ConstantOfShape", constant_of_shape},
      {"Range", range},       {"EyeLike", eye_like},
      {"NonZero", non_zero},
  };
}

}  // namespace recut::onnx

#include "engine/eval/double_graph.h"

#include <cstring>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"

namespace recut {
namespace {

DType wide(DType dtype) {
  if (dtype == DType::c64) return DType::c128;
  return dtype == DType::f32 ? DType::f64 : dtype;
}

TensorType wide(TensorType type) {
  type.dtype = wide(type.dtype);
  return type;
}

// Widens dtype arguments, such as the target of a conversion.
void widen(Argument& argument) {
  if (auto* dtype = std::get_if<DType>(&argument.value)) *dtype = wide(*dtype);
  if (auto* list = std::get_if<ArgumentList>(&argument.value))
    for (Argument& item : *list) widen(item);
}

bool is_widened(const Node& node) {
  return !operator_of(node.op).multiple_outputs() && wide(node.type().dtype) != node.type().dtype;
}

bool are_wide(std::span<const TensorType> types, std::span<const TensorType> old) {
  if (types.size() != old.size()) return false;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].dtype != wide(old[i].dtype) || types[i].shape != old[i].shape) return false;
  return true;
}

}  // namespace

DoubleGraph::DoubleGraph(const Graph& graph) : from_(&graph), mapping_(graph.order().size()) {
  to_.name = graph.name;
  to_.device = graph.device;
  if (graph.regions != nullptr)
    for (const auto& [region_name, region] : *graph.regions)
      to_.add_region(region_name, DoubleGraph(*region).graph());
  for (const NodeId id : graph.order()) add(id);
  const auto image_of = [&](NodeId id) { return id.valid() ? mapped(id) : id; };
  for (const NodeId id : graph.results) to_.results.push_back(image_of(id));
  for (const NodeId id : graph.gradients) to_.gradients.push_back(image_of(id));
}

Inputs DoubleGraph::inputs(const Inputs& values) const {
  Inputs wider;
  for (const auto& [id, tensor] : values) wider[mapped(id)] = in_double(tensor);
  return wider;
}

void DoubleGraph::add_input(NodeId id) {
  const Node& node = (*from_)[id];
  mapping_[from_->position(id)] =
      node.op == Op::placeholder
          ? to_.add_input(from_->input_kind(id), wide(node.type()), from_->origin(id))
          : to_.add_constant(wide(node.type()), from_->origin(id));
}

// The types of the call on wide operands. None if the call would change its meaning: it reads bits,
// requires f32 or fixes its own dtype.
std::optional<std::vector<TensorType>> DoubleGraph::wide_types(
    const Node& node, std::span<const Argument> arguments) const {
  const Operator& op = operator_of(node.op);
  if (op.is(kRandom)) return std::nullopt;
  std::vector<TensorType> types;
  if (op.is(kDataDependent)) {
    for (const TensorType& type : node.outputs) types.push_back(wide(type));
    return types;
  }
  auto inferred = infer_types(op, arguments, [&](NodeId id) { return to_.pool().types_of(id); });
  if (!inferred || !are_wide(*inferred, node.outputs)) return std::nullopt;
  return std::move(*inferred);
}

NodeId DoubleGraph::converted(NodeId id, DType dtype) {
  auto made = to_.make(Op::prims_convert_element_type, {id, dtype});
  RECUT_CHECK(made.ok(), "any tensor can be converted");
  return *made;
}

void DoubleGraph::add(NodeId id) {
  const Node& node = (*from_)[id];
  if (operator_of(node.op).is(kInput)) return add_input(id);
  NodeId& made = mapping_[from_->position(id)];
  std::vector<Argument> arguments = arguments_with(node, [&](NodeId o) { return mapped(o); });
  for (Argument& argument : arguments) widen(argument);
  if (const auto types = wide_types(node, arguments)) {
    made = to_.append(node.op, std::move(arguments), *types, from_->origin(id));
    return;
  }
  // The call stays in f32: its operands are rounded, and its result is widened.
  arguments = arguments_with(node, [&](NodeId operand) {
    const Node& from = (*from_)[operand];
    return is_widened(from) ? converted(mapped(operand), from.type().dtype) : mapped(operand);
  });
  made = to_.append(node.op, std::move(arguments), node.outputs, from_->origin(id));
  if (is_widened(node)) made = converted(made, wide(node.type().dtype));
}

Tensor in_double(const Tensor& tensor) {
  if (wide(tensor.dtype) == tensor.dtype) return tensor;
  // A complex number is two reals.
  const std::int64_t count = tensor.storage->size() / item_bytes(DType::f32);
  Tensor wider = tensor;
  wider.dtype = wide(tensor.dtype);
  wider.storage = std::make_shared<Storage>(count * item_bytes(DType::f64), nullptr);
  for (std::int64_t i = 0; i < count; ++i) {
    float narrow = 0;
    std::memcpy(&narrow, tensor.storage->data() + i * item_bytes(DType::f32), sizeof narrow);
    const double number = narrow;
    std::memcpy(wider.storage->data() + i * item_bytes(DType::f64), &number, sizeof number);
  }
  return wider;
}

}  // namespace recut

// The context of a lowering (lowering.h), and the table of all of them by operator name. A lowering
// reads inputs and attributes of one node and appends ATen calls; constants are materialised as
// nodes only when a lowering needs one.
#include "engine/onnx/lowering.h"

#include <fmt/core.h>

#include <map>

#include "engine/support/text.h"

namespace recut::onnx {
namespace {

using ::onnx::AttributeProto;

// PyTorch's exporter names nodes "/layer1/layer1.0/conv1/Conv": by modules, then the operator.
std::string module_path(std::string_view node_name) {
  if (!node_name.starts_with("/")) return "";
  std::string path(node_name.substr(1, node_name.rfind('/') == 0 ? 0 : node_name.rfind('/') - 1));
  for (char& c : path)
    if (c == '/') c = '.';
  return path;
}

// By name, then by the first opset that they aren't for.
using LoweringTable = std::map<std::pair<std::string_view, std::int64_t>, Lower>;

LoweringTable all_lowerings() {
  LoweringTable table;
  for (const auto& family :
       {arithmetic_lowerings(), activation_lowerings(), shape_lowerings(), index_lowerings(),
        constant_lowerings(), product_lowerings(), window_lowerings(), einsum_lowerings(),
        resize_lowerings(), normalisation_lowerings(), reduction_lowerings(), recurrent_lowerings(),
        spectral_lowerings()})
    for (const OperatorLowering& row : family)
      table.emplace(std::pair(row.name, row.before), row.lower);
  return table;
}

}  // namespace

Lowering::Lowering(const ::onnx::NodeProto& node, Graph& graph, std::vector<OnnxValue> inputs,
                   MakeConstant make_constant)
    : node_(node),
      graph_(graph),
      inputs_(std::move(inputs)),
      make_constant_(std::move(make_constant)) {}

bool Lowering::has(std::size_t input) const {
  return input < inputs_.size() && (inputs_[input].node.valid() || inputs_[input].known);
}

const OnnxValue& Lowering::value(std::size_t input) const {
  const OnnxValue& found = any_value(input);
  if (found.items) refuse(fmt::format("input {} is a sequence, expected a tensor", input));
  return found;
}

bool Lowering::has_any(std::size_t input) const {
  return has(input) || (input < inputs_.size() && inputs_[input].items);
}

const OnnxValue& Lowering::any_value(std::size_t input) const {
  if (!has_any(input)) refuse(fmt::format("input {} is missing", input));
  return inputs_[input];
}

const std::vector<OnnxValue>& Lowering::sequence(std::size_t input) const {
  const OnnxValue& found = any_value(input);
  if (!found.items) refuse(fmt::format("input {} is a tensor, expected a sequence", input));
  return *found.items;
}

NodeId Lowering::in(std::size_t input) {
  (void)value(input);
  OnnxValue& found = inputs_[input];
  if (!found.node.valid()) found.node = make_constant_(found);
  return found.node;
}

const Tensor& Lowering::known(std::size_t input, std::string_view what) const {
  const OnnxValue& found = value(input);
  if (!found.known)
    refuse(fmt::format("its {} depend on values that only a run shows: static shapes only", what));
  return *found.known;
}

std::vector<std::int64_t> Lowering::integers(std::size_t input, std::string_view what) const {
  return as_integers(known(input, what));
}

std::int64_t Lowering::whole(std::size_t input, std::string_view what) const {
  const auto values = integers(input, what);
  if (values.size() != 1)
    refuse(fmt::format("its {} are {} numbers, expected one", what, values.size()));
  return values.front();
}

double Lowering::real(std::size_t input, std::string_view what) const {
  const auto values = as_reals(known(input, what));
  if (values.size() != 1)
    refuse(fmt::format("its {} are {} numbers, expected one", what, values.size()));
  return values.front();
}

std::optional<Argument> Lowering::number(std::size_t input, std::int64_t rank) const {
  const OnnxValue& found = value(input);
  if (!found.known || found.weight || found.known->count() != 1 || found.type.rank() > rank)
    return std::nullopt;
  if (found.type.dtype == DType::boolean) return std::nullopt;
  if (is_floating(found.type.dtype)) return Argument(as_reals(*found.known).front());
  return Argument(as_integers(*found.known).front());
}

const AttributeProto* Lowering::find(std::string_view name) const {
  for (const AttributeProto& attribute : node_.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

namespace {

const AttributeProto* of_kind(const AttributeProto* found, AttributeProto::AttributeType kind) {
  if (found == nullptr || found->type() == kind) return found;
  throw ImportError{
      fmt::format("attribute {} is of another type than the operator's", quote(found->name()))};
}

}  // namespace

std::int64_t Lowering::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* found = of_kind(find(name), AttributeProto::INT);
  return found == nullptr ? otherwise : found->i();
}

double Lowering::real(std::string_view name, double otherwise) const {
  const auto* found = of_kind(find(name), AttributeProto::FLOAT);
  return found == nullptr ? otherwise : static_cast<double>(found->f());
}

std::string Lowering::text(std::string_view name, std::string_view otherwise) const {
  const auto* found = of_kind(find(name), AttributeProto::STRING);
  return found == nullptr ? std::string(otherwise) : found->s();
}

std::vector<std::int64_t> Lowering::integers(std::string_view name,
                                             std::vector<std::int64_t> otherwise) const {
  const auto* found = of_kind(find(name), AttributeProto::INTS);
  if (found == nullptr) return otherwise;
  return {found->ints().begin(), found->ints().end()};
}

std::vector<std::string> Lowering::texts(std::string_view name) const {
  const auto* found = of_kind(find(name), AttributeProto::STRINGS);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

std::int64_t Lowering::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    refuse(fmt::format("axis {} of a tensor of {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::vector<std::int64_t>> Lowering::axes(std::size_t input) const {
  return has(input) ? std::optional(integers(input, "axes")) : std::nullopt;
}

Origin Lowering::origin(std::string_view packet) {
  const std::string& whole = node_.output_size() > 0 ? node_.output(0) : node_.name();
  return {graph_.unused_name(fmt::format("{}/{}", whole, packet)), module_path(node_.name()), -1};
}

NodeId Lowering::make(Op op, std::vector<Argument> arguments) {
  const auto id = graph_.make(op, std::move(arguments), origin(operator_of(op).packet));
  if (!id) refuse(id.diagnostics().front().message);
  return *id;
}

NodeId Lowering::item(NodeId several, std::int64_t index) {
  return make(Op::getitem, {several, index});
}

NodeId Lowering::reshape(NodeId id, const std::vector<std::int64_t>& shape) {
  if (this->shape(id) == shape) return id;
  const auto viewed = graph_.make(Op::view, {id, Argument(shape)}, origin("view"));
  if (viewed) return *viewed;
  return make(Op::view, {make(Op::clone, {id, "contiguous_format"}), Argument(shape)});
}

NodeId Lowering::convert(NodeId id, DType dtype) {
  return type(id).dtype == dtype ? id : make(Op::prims_convert_element_type, {id, dtype});
}

NodeId Lowering::constant(Tensor tensor) { return make_constant_(known_value(std::move(tensor))); }

std::vector<OnnxValue> Lowering::one(const Lowering& lowering, NodeId id) {
  return {OnnxValue{id, std::nullopt, false, lowering.type(id)}};
}

OnnxValue Lowering::known_value(Tensor tensor) {
  TensorType type = make_type(tensor.dtype, tensor.shape);
  return OnnxValue{NodeId(), std::move(tensor), false, std::move(type)};
}

Lower find_lowering(std::string_view operator_name, std::int64_t opset) {
  static const LoweringTable table = all_lowerings();
  const auto it = table.upper_bound({operator_name, opset});
  return it == table.end() || it->first.first != operator_name ? nullptr : it->second;
}

}  // namespace recut::onnx

#include "engine/onnx/older_forms.h"

#include <fmt/core.h>

#include <span>

#include "engine/support/text.h"

namespace recut::onnx {
namespace {

using ::onnx::AttributeProto;

// In opsets before `before`, `attribute` of the operator stands for input `input`.
// Source: the changelog of ONNX's operators.
struct MovedAttribute {
  std::string_view operator_name;
  std::int64_t before;
  std::string_view attribute;
  std::size_t input;
};

constexpr MovedAttribute kMovedAttributes[] = {
    {"Upsample", 9, "scales", 1},
    {"Slice", 10, "starts", 1},
    {"Slice", 10, "ends", 2},
    {"Slice", 10, "axes", 3},
    {"TopK", 10, "k", 1},
    {"Clip", 11, "min", 1},
    {"Clip", 11, "max", 2},
    {"Pad", 11, "pads", 1},
    {"Pad", 11, "value", 2},
    {"Dropout", 12, "ratio", 1},
    {"ReduceSum", 13, "axes", 1},
    {"Split", 13, "split", 1},
    {"Squeeze", 13, "axes", 1},
    {"Unsqueeze", 13, "axes", 1},
    {"ReduceL1", 18, "axes", 1},
    {"ReduceL2", 18, "axes", 1},
    {"ReduceLogSum", 18, "axes", 1},
    {"ReduceLogSumExp", 18, "axes", 1},
    {"ReduceMax", 18, "axes", 1},
    {"ReduceMean", 18, "axes", 1},
    {"ReduceMin", 18, "axes", 1},
    {"ReduceProd", 18, "axes", 1},
    {"ReduceSumSquare", 18, "axes", 1},
    {"DFT", 20, "axis", 2},
};

const AttributeProto* attribute_of(const ::onnx::NodeProto& node, std::string_view name) {
  for (const AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

Tensor constant_of(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      return integer_tensor(attribute.i());
    case AttributeProto::INTS:
      return integers_tensor({attribute.ints().begin(), attribute.ints().end()});
    case AttributeProto::FLOAT:
      return reals_tensor({attribute.f()}, {}, DType::f32);
    case AttributeProto::FLOATS:
      return reals_tensor({attribute.floats().begin(), attribute.floats().end()},
                          {attribute.floats_size()}, DType::f32);
    default:
      throw ImportError{fmt::format("attribute {} is of another type than the operator's",
                                    quote(attribute.name()))};
  }
}

bool given(const OnnxValue& value) { return value.node.valid() || value.known; }

}  // namespace

std::vector<OnnxValue> newest_inputs(const ::onnx::NodeProto& node, std::int64_t opset,
                                     std::vector<OnnxValue> inputs) {
  for (const MovedAttribute& moved : kMovedAttributes) {
    if (moved.operator_name != node.op_type()) continue;
    const AttributeProto* attribute = attribute_of(node, moved.attribute);
    const bool older = opset < moved.before;
    if (attribute != nullptr && !older)
      throw ImportError{
          fmt::format("attribute {} is an input since opset {}, and the model is of opset {}",
                      quote(moved.attribute), moved.before, opset)};
    if (older && moved.input < inputs.size() && given(inputs[moved.input]))
      throw ImportError{
          fmt::format("input {} is an attribute before opset {}, and the model is of opset {}",
                      moved.input, moved.before, opset)};
    if (attribute == nullptr) continue;
    if (inputs.size() <= moved.input) inputs.resize(moved.input + 1);
    inputs[moved.input] = Lowering::known_value(constant_of(*attribute));
  }
  return inputs;
}

}  // namespace recut::onnx

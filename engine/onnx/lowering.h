// The context in which one ONNX node is lowered to ATen operators.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/onnx/tensor_values.h"

namespace recut::onnx {

// The value of a name in the model: a node, a constant that has no node yet, or a sequence.
struct OnnxValue {
  NodeId node;
  std::optional<Tensor> known;
  bool weight = false;  // constant, but trained: it must not be folded
  TensorType type;
  std::shared_ptr<const std::vector<OnnxValue>> items;  // null if it is no sequence
};

// Materialises a constant as a node.
using MakeConstant = std::function<NodeId(const OnnxValue& value)>;

class Lowering {
 public:
  // `inputs` are those of the operator's newest form (newest_inputs).
  Lowering(const ::onnx::NodeProto& node, Graph& graph, std::vector<OnnxValue> inputs,
           MakeConstant make_constant);

  // Inputs. Accessing a missing input is an error of the model.
  std::size_t inputs() const { return inputs_.size(); }
  bool has(std::size_t input) const;  // a tensor
  const OnnxValue& value(std::size_t input) const;
  bool has_any(std::size_t input) const;  // a tensor or a sequence
  const OnnxValue& any_value(std::size_t input) const;
  const std::vector<OnnxValue>& sequence(std::size_t input) const;
  NodeId in(std::size_t input);
  const TensorType& type(std::size_t input) const { return value(input).type; }
  std::int64_t rank(std::size_t input) const { return type(input).rank(); }

  // Values that must be constants; `what` names them in the error message.
  const Tensor& known(std::size_t input, std::string_view what) const;
  std::vector<std::int64_t> integers(std::size_t input, std::string_view what) const;
  std::int64_t whole(std::size_t input, std::string_view what) const;  // one integer
  double real(std::size_t input, std::string_view what) const;

  // The value of a constant scalar input that can be a Scalar argument beside operands of `rank`.
  std::optional<Argument> number(std::size_t input, std::int64_t rank) const;

  // Attributes. An attribute of another kind is an error of the model.
  bool given(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name,
                                     std::vector<std::int64_t> otherwise) const;
  std::vector<std::string> texts(std::string_view name) const;  // none where it is left out
  const ::onnx::AttributeProto* find(std::string_view name) const;

  // An axis wrapped into [0, rank).
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;

  // The axes in input `input`; none where it is left out.
  std::optional<std::vector<std::int64_t>> axes(std::size_t input) const;

  // Nodes. A shape rule's error becomes an error of the model.
  NodeId make(Op op, std::vector<Argument> arguments);
  NodeId item(NodeId several, std::int64_t index);
  NodeId reshape(NodeId id, const std::vector<std::int64_t>& shape);  // copies if no view exists
  NodeId convert(NodeId id, DType dtype);                             // no-op if it has that dtype
  NodeId constant(Tensor tensor);
  const TensorType& type(NodeId id) const { return graph_.type(id); }
  const Shape& shape(NodeId id) const { return graph_.type(id).shape; }

  std::size_t outputs() const { return static_cast<std::size_t>(node_.output_size()); }
  [[noreturn]] void refuse(std::string message) const { throw ImportError{std::move(message)}; }

  static std::vector<OnnxValue> one(const Lowering& lowering, NodeId id);
  static OnnxValue known_value(Tensor tensor);

 private:
  // Names intermediate nodes by the first output and the operator. The importer names the outputs.
  Origin origin(std::string_view packet);

  const ::onnx::NodeProto& node_;
  Graph& graph_;
  std::vector<OnnxValue> inputs_;
  MakeConstant make_constant_;
};

// The values of a node's outputs, in order.
using Lowered = std::vector<OnnxValue>;
using Lower = Lowered (*)(Lowering& node);

// The lowering of one operator of ONNX's default domain. Where the operator meant something else in
// older opsets, it has a row for them: `before` is the first opset with the new meaning.
struct OperatorLowering {
  std::string_view name;
  Lower lower;
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
};

// Null if there is none.
Lower find_lowering(std::string_view operator_name, std::int64_t opset);

// The lowerings of each operator family, in files of its name.
std::vector<OperatorLowering> arithmetic_lowerings();
std::vector<OperatorLowering> activation_lowerings();
std::vector<OperatorLowering> shape_lowerings();
std::vector<OperatorLowering> index_lowerings();
std::vector<OperatorLowering> constant_lowerings();
std::vector<OperatorLowering> product_lowerings();
std::vector<OperatorLowering> einsum_lowerings();
std::vector<OperatorLowering> window_lowerings();
std::vector<OperatorLowering> resize_lowerings();
std::vector<OperatorLowering> normalisation_lowerings();
std::vector<OperatorLowering> reduction_lowerings();
std::vector<OperatorLowering> recurrent_lowerings();
std::vector<OperatorLowering> spectral_lowerings();

}  // namespace recut::onnx

// One node of a model, as the rows that translate operators see it.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/onnx/tensor_values.h"

namespace recut::onnx {

// What a name of the model stands for: a node, or a tensor that is known and has no node yet.
struct Value {
  NodeId node;
  std::optional<Tensor> known;
  bool weight = false;  // known, but trained: nothing may be computed from it beforehand
  TensorType type;
};

// Makes a node of a tensor that is known.
using MakeConstant = std::function<NodeId(const Value& value)>;

class Lowering {
 public:
  Lowering(const ::onnx::NodeProto& node, std::int64_t opset, Graph& graph,
           std::vector<Value> inputs, MakeConstant make_constant);

  std::int64_t opset() const { return opset_; }

  // Inputs. Asking for the node, type or value of one that is not there is refused.
  std::size_t inputs() const { return inputs_.size(); }
  bool has(std::size_t input) const;
  const Value& value(std::size_t input) const;
  NodeId in(std::size_t input);
  const TensorType& type(std::size_t input) const { return value(input).type; }
  std::int64_t rank(std::size_t input) const { return type(input).rank(); }

  // Values that have to be known before the model runs; `what` names them where they aren't.
  const Tensor& known(std::size_t input, std::string_view what) const;
  std::vector<std::int64_t> integers(std::size_t input, std::string_view what) const;
  std::int64_t whole(std::size_t input, std::string_view what) const;  // one integer
  double real(std::size_t input, std::string_view what) const;

  // The number where an input is one that can stand for itself among operands of `rank` dimensions.
  std::optional<Argument> number(std::size_t input, std::int64_t rank) const;

  // Attributes. Another kind than the one asked for is refused.
  bool given(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name,
                                     std::vector<std::int64_t> otherwise) const;
  const ::onnx::AttributeProto* find(std::string_view name) const;

  // An axis counted from the front, of `rank`.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;

  // Axes where they have moved from attribute to input: input `input` from opset `since` on. None:
  // nothing.
  std::optional<std::vector<std::int64_t>> axes(std::size_t input, std::int64_t since) const;

  // Nodes. What the operator's rule does not take is refused in its words.
  NodeId make(Op op, std::vector<Argument> arguments);
  NodeId item(NodeId several, std::int64_t index);
  NodeId reshape(NodeId id, const std::vector<std::int64_t>& shape);  // copies where it must
  NodeId convert(NodeId id, DType dtype);                             // itself where it has that
  NodeId constant(Tensor tensor);
  const TensorType& type(NodeId id) const { return graph_.type(id); }
  const Shape& shape(NodeId id) const { return graph_.type(id).shape; }

  std::size_t outputs() const { return static_cast<std::size_t>(node_.output_size()); }
  [[noreturn]] void refuse(std::string message) const { throw Refusal{std::move(message)}; }

  static std::vector<Value> one(const Lowering& lowering, NodeId id);
  static Value known_value(Tensor tensor);

 private:
  // By the first output and the operator: parts of what the node gives. The importer names the
  // rest.
  Origin origin(std::string_view packet);

  const ::onnx::NodeProto& node_;
  const std::int64_t opset_;
  Graph& graph_;
  std::vector<Value> inputs_;
  MakeConstant make_constant_;
};

// The values of a node's outputs, in order.
using Lowered = std::vector<Value>;
using Lower = Lowered (*)(Lowering& node);

// One operator of ONNX's own domain.
struct Row {
  std::string_view name;
  Lower lower;
};

// Null where there is none.
Lower find_lowering(std::string_view operator_name);

// The rows of each family, in files of its name.
std::vector<Row> arithmetic_rows();
std::vector<Row> activation_rows();
std::vector<Row> shape_rows();
std::vector<Row> index_rows();
std::vector<Row> constant_rows();
std::vector<Row> product_rows();
std::vector<Row> window_rows();
std::vector<Row> resize_rows();
std::vector<Row> normalisation_rows();
std::vector<Row> reduction_rows();
std::vector<Row> recurrent_rows();

}  // namespace recut::onnx

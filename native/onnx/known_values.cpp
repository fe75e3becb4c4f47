#include "native/onnx/known_values.h"

#include <algorithm>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"

namespace recut::native {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 28;

bool many(const TensorType& type) { return element_count(type.shape) > kMostElements; }

// A small graph of its own for one node of the model.
class Bench {
 public:
  NodeId constant(const Value& value) {
    const NodeId id = graph_.add_constant(value.type, {graph_.unused_name("known"), "", -1});
    inputs_.emplace(id, *value.known);
    return id;
  }

  std::optional<Lowered> run(const ::onnx::NodeProto& node, std::int64_t opset,
                             std::vector<Value> inputs) {
    for (Value& value : inputs) value.node = NodeId();
    Lowering lowering(node, opset, graph_, std::move(inputs),
                      [this](const Value& value) { return constant(value); });
    Lowered outputs = find_lowering(node.op_type())(lowering);
    for (const NodeId id : graph_.order())
      for (const TensorType& type : graph_[id].outputs)
        if (many(type)) return std::nullopt;
    for (const Value& value : outputs)
      if (!value.known) graph_.results.push_back(value.node);
    EvaluateOptions options;
    options.max_bytes = kMostBytes;
    const auto evaluation = evaluate(graph_, inputs_, options);
    if (!evaluation) return std::nullopt;
    std::size_t at = 0;
    for (Value& value : outputs)
      if (!value.known) value = Lowering::known_value(dense(evaluation->outputs[at++]));
    return outputs;
  }

 private:
  // With its elements in a row, as constants are kept.
  static Tensor dense(const Tensor& tensor) {
    return tensor_from_bytes(make_type(tensor.dtype, tensor.shape), bytes_of(tensor));
  }

  Graph graph_;
  Inputs inputs_;
};

}  // namespace

std::optional<Lowered> compute_known(const ::onnx::NodeProto& node, std::int64_t opset,
                                     const std::vector<Value>& inputs) {
  for (const Value& value : inputs)
    if (value.known && many(value.type)) return std::nullopt;
  return Bench().run(node, opset, inputs);
}

std::optional<Argument> uniform_number(const Tensor& tensor) {
  if (tensor.count() == 0) return std::nullopt;
  const std::string bytes = bytes_of(tensor);
  const auto item = static_cast<std::size_t>(item_bytes(tensor.dtype));
  for (std::size_t at = item; at < bytes.size(); at += item)
    if (bytes.compare(at, item, bytes, 0, item) != 0) return std::nullopt;
  if (is_floating(tensor.dtype)) return Argument(as_reals(tensor).front());
  if (tensor.dtype == DType::boolean) return Argument(as_integers(tensor).front() != 0);
  return Argument(as_integers(tensor).front());
}

}  // namespace recut::native

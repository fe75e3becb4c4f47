#include "engine/onnx/constant_folding.h"

#include <algorithm>

#include "engine/cost/cost.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"

namespace recut::onnx {
namespace {

constexpr std::int64_t kMaxFoldedElements = std::int64_t{1} << 20;
constexpr std::int64_t kMaxFoldingBytes = std::int64_t{1} << 28;

bool many(const TensorType& type) { return element_count(type.shape) > kMaxFoldedElements; }

double elements_of(const std::vector<TensorType>& types) {
  double count = 0;
  for (const TensorType& type : types) count += static_cast<double>(element_count(type.shape));
  return count;
}

// A rough upper bound of a node's work: a pooling window covers at most its operand.
double work_of(const Graph& graph, NodeId id) {
  const double moved = static_cast<double>(node_traffic(graph, id));
  double work = 1 + moved + static_cast<double>(node_flops(graph, id));
  if (graph.op(id).is(kPooling | kLinearAlgebra))
    for (const NodeId operand : graph[id].operands)
      work += elements_of(graph[id].outputs) * elements_of(graph[operand].outputs);
  return work;
}

// Folds one node of the model in a graph of its own.
class NodeFolder {
 public:
  NodeId constant(const OnnxValue& value) {
    const NodeId id = graph_.add_constant(value.type, {graph_.unused_name("known"), "", -1});
    inputs_.emplace(id, *value.known);
    return id;
  }

  std::optional<Lowered> run(const ::onnx::NodeProto& node, std::int64_t opset,
                             std::vector<OnnxValue> inputs, FoldingLimits& limits) {
    for (OnnxValue& value : inputs) value.node = NodeId();
    Lowering lowering(node, graph_, std::move(inputs),
                      [this](const OnnxValue& value) { return constant(value); });
    Lowered outputs = find_lowering(node.op_type(), opset)(lowering);
    for (const NodeId id : graph_.order())
      for (const TensorType& type : graph_[id].outputs)
        if (many(type)) return std::nullopt;
    if (!fits(outputs, limits)) return std::nullopt;
    for (const OnnxValue& value : outputs)
      if (!value.known) graph_.results.push_back(value.node);
    EvaluateOptions options;
    options.max_bytes = kMaxFoldingBytes;
    const auto evaluation = evaluate(graph_, inputs_, options);
    if (!evaluation) return std::nullopt;
    std::size_t at = 0;
    for (OnnxValue& value : outputs)
      if (!value.known) value = Lowering::known_value(dense(evaluation->outputs[at++]));
    return outputs;
  }

 private:
  // Charges the node to the limits; false if the budget is exhausted.
  bool fits(const Lowered& outputs, FoldingLimits& limits) const {
    double work = 0;
    std::int64_t bytes = 0;
    for (const NodeId id : graph_.order()) work += work_of(graph_, id);
    for (const OnnxValue& value : outputs)
      if (!value.known) bytes += byte_size(value.type);
    if (work > static_cast<double>(limits.work) || bytes > limits.bytes) return false;
    limits.work -= static_cast<std::int64_t>(work);
    limits.bytes -= bytes;
    return true;
  }

  // A contiguous copy, the form in which constants are kept.
  static Tensor dense(const Tensor& tensor) {
    return tensor_from_bytes(make_type(tensor.dtype, tensor.shape), bytes_of(tensor));
  }

  Graph graph_;
  Inputs inputs_;
};

}  // namespace

std::optional<Lowered> fold_node(const ::onnx::NodeProto& node, std::int64_t opset,
                                 const std::vector<OnnxValue>& inputs, FoldingLimits& limits) {
  for (const OnnxValue& value : inputs)
    if (value.known && many(value.type)) return std::nullopt;
  return NodeFolder().run(node, opset, inputs, limits);
}

std::optional<Argument> splat_value(const Tensor& tensor) {
  if (tensor.count() == 0) return std::nullopt;
  const std::string bytes = bytes_of(tensor);
  const auto item = static_cast<std::size_t>(item_bytes(tensor.dtype));
  for (std::size_t at = item; at < bytes.size(); at += item)
    if (bytes.compare(at, item, bytes, 0, item) != 0) return std::nullopt;
  if (is_floating(tensor.dtype)) return Argument(as_reals(tensor).front());
  if (tensor.dtype == DType::boolean) return Argument(as_integers(tensor).front() != 0);
  return Argument(as_integers(tensor).front());
}

}  // namespace recut::onnx

// What a model of one node gives, and why it is refused.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/onnx/read_onnx.h"
#include "tests/onnx/onnx_writer.h"

namespace recut::test::onnx_node {

using Ints = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

struct Made {
  Shape shape;
  Numbers values;
};

inline bool operator==(const Made& a, const Made& b) {
  return a.shape == b.shape && a.values == b.values;
}

inline std::ostream& operator<<(std::ostream& out, const Made& value) {
  out << "[";
  for (const std::int64_t size : value.shape) out << size << " ";
  out << "]:";
  for (const double x : value.values) out << " " << x;
  return out;
}

// Of these values, or 0, 1, 2, …
inline Tensor tensor_of_numbers(const TensorType& type, const Numbers* given) {
  Reals reals(type.shape);
  for (std::int64_t i = 0; i < reals.count(); ++i) reals[i] = static_cast<double>(i);
  if (given != nullptr) {
    REQUIRE(given->size() == reals.data.size());
    reals.data = *given;
  }
  Tensor tensor = allocate(type, nullptr);
  pack(reals, tensor);
  return tensor;
}

// What the node gives where x has these values, or 0, 1, 2, …
inline Result<Made> evaluated(const OnnxNode& node, int opset, const Numbers* x) {
  const auto file = onnx::read_onnx(node.model(opset), "m.onnx");
  if (!file) return file.diagnostics();
  Inputs inputs;
  for (const NodeId id : file->graph.order()) {
    if (!file->graph.op(id).is(kInput)) continue;
    const std::string& name = file->graph.node_name(id);
    for (const NamedTensor& tensor : file->tensors)
      if (tensor.name == "in." + name)
        inputs[id] = tensor_from_bytes(file->graph.type(id), tensor.bytes);
    if (name == "x") inputs[id] = tensor_of_numbers(file->graph.type(id), x);
  }
  const auto evaluation = evaluate(file->graph, inputs);
  if (!evaluation) return evaluation.diagnostics();
  const Tensor& y = evaluation->outputs.front();
  return Made{y.shape, unpack<double>(y).data};
}

inline Made gives(const OnnxNode& node, const Numbers& x = {}, int opset = 18) {
  const auto found = evaluated(node, opset, x.empty() ? nullptr : &x);
  INFO((found ? std::string() : format(found.diagnostics())));
  REQUIRE(found.ok());
  return *found;
}

inline std::string refused(const OnnxNode& node, const Numbers& x = {}, int opset = 18) {
  const auto found = evaluated(node, opset, x.empty() ? nullptr : &x);
  REQUIRE_FALSE(found.ok());
  return found.diagnostics().front().message;
}

}  // namespace recut::test::onnx_node

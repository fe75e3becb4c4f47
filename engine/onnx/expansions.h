// Operators that become other nodes of the model as it is read: those with nested graphs, and those
// of sequences. No loop, branch or sequence reaches Recut's graph.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/onnx/lowering.h"
#include "engine/onnx/node_importer.h"

namespace recut::onnx {

// A node to expand: its inputs and attributes, and the names that its nested graphs see.
struct Expansion {
  NodeImporter& importer;
  const Scope& scope;
  Lowering& node;
  const ::onnx::NodeProto& proto;

  const ::onnx::GraphProto& graph(std::string_view attribute) const;

  // The results of the nested graph in `attribute`; errors name the attribute.
  Lowered run(std::string_view attribute, const std::vector<OnnxValue>& inputs,
              const Gate& gate = {}) const;

  OnnxValue call(std::string_view operator_name, const std::vector<OnnxValue>& inputs,
                 const std::vector<std::pair<std::string, std::int64_t>>& attributes = {}) const {
    return importer.call(proto, operator_name, inputs, attributes);
  }

  // Values one after another along a new axis. There must be one.
  OnnxValue stacked(const std::vector<OnnxValue>& values, std::int64_t axis) const;
};

using Expand = Lowered (*)(Expansion& at);

// The expansion of one operator, in opsets from `since` on.
struct OperatorExpansion {
  std::string_view name;
  Expand expand;
  std::int64_t since = 0;
};

// Null if there is none.
Expand find_expansion(std::string_view operator_name, std::int64_t opset);

std::vector<OperatorExpansion> control_flow_expansions();
std::vector<OperatorExpansion> sequence_expansions();

OnnxValue sequence_of(std::vector<OnnxValue> items);

}  // namespace recut::onnx

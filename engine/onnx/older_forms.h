// Older forms of operators: the attributes that later opsets take as inputs.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <vector>

#include "engine/onnx/lowering.h"

namespace recut::onnx {

// The inputs of a node of `opset` in the newest form of its operator: attributes that became inputs
// since are appended as constants. Throws ImportError if the node has the attribute and the input,
// or the attribute in an opset that no longer has it.
std::vector<OnnxValue> newest_inputs(const ::onnx::NodeProto& node, std::int64_t opset,
                                     std::vector<OnnxValue> inputs);

}  // namespace recut::onnx

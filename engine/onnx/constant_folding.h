// Constant folding at import.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/onnx/lowering.h"

namespace recut::onnx {

// The remaining folding budget of one model.
struct FoldingLimits {
  std::int64_t bytes;  // of results
  std::int64_t work;   // bytes moved, and operations on numbers
};

// Evaluates a node whose inputs are all constants with the interpreter, and charges it to the
// limits. None if the result is large (a mask of a long sequence, a table) or the budget is
// exhausted: the graph then computes it.
std::optional<Lowered> fold_node(const ::onnx::NodeProto& node, std::int64_t opset,
                                 const std::vector<OnnxValue>& inputs, FoldingLimits& limits);

// The value of a splat tensor, as `full` takes it; none if elements differ or there are none.
std::optional<Argument> splat_value(const Tensor& tensor);

}  // namespace recut::onnx

// Values that are known before the model runs.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/onnx/lowering.h"

namespace recut::onnx {

// What may still be computed beforehand of one model.
struct KnownLimits {
  std::int64_t bytes;  // of values that are kept
  std::int64_t work;   // bytes moved, and operations on numbers
};

// What a node gives of inputs that are all known, by the interpreter; taken off the limits. Nothing
// where its values are many (a mask of a long sequence, a table) or it would take more than is
// left: the graph then computes them.
std::optional<Lowered> compute_known(const ::onnx::NodeProto& node, std::int64_t opset,
                                     const std::vector<Value>& inputs, KnownLimits& limits);

// The number that every element is, as `full` takes it; nothing where they differ or there is none.
std::optional<Argument> uniform_number(const Tensor& tensor);

}  // namespace recut::onnx

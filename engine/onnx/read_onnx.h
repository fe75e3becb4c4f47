// ONNX inference models (opset 7 and later) as forward graphs.
//
// Floating-point initializers become parameters; running statistics and other initializers become
// constants. Shape computations are folded. Values are in GraphFile::tensors.
// https://github.com/onnx/onnx/blob/main/docs/IR.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/onnx/options.h"
#include "engine/support/result.h"

namespace recut::onnx {

// Up to opset 6, element-wise operators broadcast by an attribute.
inline constexpr std::int64_t kMinOpset = 7;

// Recognised by the file's name: a protobuf message has no magic bytes.
bool is_onnx_name(std::string_view file_name);

// Names of the inputs' symbolic dimensions, in the model's order, each once; empty if the bytes are
// no model.
std::vector<std::string> open_dimensions(std::string_view bytes);

// Fails if the bytes are no model, an operator or dtype is unsupported, a dimension has no size, or
// there are too many nodes. All unsupported operators are reported, each with its first node and
// position.
Result<GraphFile> read_onnx(std::string_view bytes, std::string_view file_name,
                            const Options& options = {});

}  // namespace recut::onnx

// ONNX inference models (opset 13 and later) as forward graphs.
//
// Floating initializers become parameters, but for running statistics, which become constants like
// all else that is known beforehand; shapes that the model computes are computed here. Their values
// come along (GraphFile::tensors). https://github.com/onnx/onnx/blob/main/docs/IR.md
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/input/graph_file.h"
#include "engine/support/result.h"

namespace recut::native {

inline constexpr std::int64_t kOldestOpset = 13;

struct OnnxOptions {
  // Sizes of dimensions that the model leaves open, by their names, or "input.0" where they have
  // none.
  std::map<std::string, std::int64_t> dimensions;
};

// By the file's name: the bytes of a protobuf message have no mark.
bool is_onnx_name(std::string_view file_name);

// Fails where the bytes are no model, an operator or dtype is none that Recut has (all are named),
// or a dimension is open.
Result<GraphFile> read_onnx(std::string_view bytes, std::string_view file_name,
                            const OnnxOptions& options = {});

}  // namespace recut::native

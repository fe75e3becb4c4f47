// ONNX inference models (opset 13 and later) as forward graphs.
//
// Floating initializers become parameters, but for running statistics, which become constants like
// all else that is known beforehand; shapes that the model computes are computed here. Their values
// come along (GraphFile::tensors). https://github.com/onnx/onnx/blob/main/docs/IR.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/onnx/options.h"
#include "engine/support/result.h"

namespace recut::onnx {

inline constexpr std::int64_t kOldestOpset = 13;

// By the file's name: the bytes of a protobuf message have no mark.
bool is_onnx_name(std::string_view file_name);

// The names by which the sizes of its inputs can be given, in the model's order, each once; none
// where the bytes are no model.
std::vector<std::string> open_dimensions(std::string_view bytes);

// Fails where the bytes are no model, an operator or dtype is none that Recut has (all operators
// are named, each with its first node and that one's place), a dimension is open, or there are too
// many nodes.
Result<GraphFile> read_onnx(std::string_view bytes, std::string_view file_name,
                            const Options& options = {});

}  // namespace recut::onnx

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
#include "engine/support/result.h"
#include "engine/workspace/dimensions.h"

namespace recut::onnx {

inline constexpr std::int64_t kOldestOpset = 13;

struct Options {
  // Sizes of dimensions that the model leaves open, by their names, or "input.0" where they have
  // none.
  Dimensions dimensions;

  // Against files that mean harm: a few bytes of a model can ask for much. More nodes are refused,
  // of the model or of the graph that comes of it.
  std::int64_t max_nodes = std::int64_t{1} << 20;
  // What is computed beforehand, of values that are known: bytes that are kept, and work in bytes
  // moved and operations on numbers. What goes beyond is left to the graph.
  std::int64_t known_bytes = std::int64_t{1} << 28;
  std::int64_t known_work = std::int64_t{1} << 28;
};

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

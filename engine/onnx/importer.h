// From a model's graph to a forward graph.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <string>

#include "engine/input/graph_file.h"
#include "engine/onnx/lowering.h"
#include "engine/onnx/options.h"
#include "engine/support/result.h"

namespace recut::onnx {

// "node '/conv1/Conv'", or by its first output where it has no name; and "7 of 120".
std::string node_words(const ::onnx::NodeProto& node);
std::string place_words(const ::onnx::GraphProto& model, int node);

// What an input's dimension is called whose size the model leaves open; "" where it fixes it.
std::string open_name(const ::onnx::ValueInfoProto& input, int dimension);

// Every operator has a row (find_lowering).
Result<GraphFile> import_graph(const ::onnx::GraphProto& model, std::int64_t opset,
                               const Options& options);

}  // namespace recut::onnx

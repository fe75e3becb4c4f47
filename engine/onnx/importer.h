// Imports a model's graph as a forward graph.
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
std::string describe_node(const ::onnx::NodeProto& node);
std::string position_text(const ::onnx::GraphProto& model, int node);

// The name of an input's symbolic dimension; "" if its size is fixed.
std::string open_name(const ::onnx::ValueInfoProto& input, int dimension);

// Every operator must have a lowering (find_lowering).
Result<GraphFile> import_graph(const ::onnx::GraphProto& model, std::int64_t opset,
                               const Options& options);

}  // namespace recut::onnx

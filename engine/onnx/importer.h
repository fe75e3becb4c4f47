// Imports a model's graph as a forward graph.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <string>

#include "engine/input/graph_file.h"
#include "engine/onnx/options.h"
#include "engine/support/result.h"

namespace recut::onnx {

// The name of an input's symbolic dimension; "" if its size is fixed.
std::string open_name(const ::onnx::ValueInfoProto& input, int dimension);

Result<GraphFile> import_graph(const ::onnx::GraphProto& model, std::int64_t opset,
                               const Options& options);

}  // namespace recut::onnx

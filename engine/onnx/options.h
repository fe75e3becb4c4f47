// Options of the ONNX importer.
#pragma once

#include <cstdint>

#include "engine/input/dimensions.h"

namespace recut::onnx {

struct Options {
  // Sizes of symbolic dimensions, by their names, or "input.0" if they have none.
  Dimensions dimensions;

  // Limits against malicious files: a few bytes of a model can ask for much. This one bounds the
  // nodes of the model and of the imported graph.
  std::int64_t max_nodes = std::int64_t{1} << 20;
  // Nodes of nested graphs, each counted again for every time that it is imported, and items of
  // sequences.
  std::int64_t max_nested_nodes = std::int64_t{1} << 17;
  // Budget of constant folding: bytes of results, and work in bytes moved plus arithmetic
  // operations. Nodes beyond it stay in the graph.
  std::int64_t folded_bytes = std::int64_t{1} << 28;
  std::int64_t folding_work = std::int64_t{1} << 28;
};

}  // namespace recut::onnx

// What a reader of ONNX models is told beside the model.
#pragma once

#include <cstdint>

#include "engine/input/dimensions.h"

namespace recut::onnx {

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

}  // namespace recut::onnx

// The safetensors format: a header in JSON, then the values.
//   8 bytes: N, little-endian; N bytes: {"name": {"dtype": "F32", "shape": [2, 3],
//   "data_offsets": [begin, end]}, …, "__metadata__": {…}}; then the bytes, dense and row-major.
// https://github.com/huggingface/safetensors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut {

struct NamedTensor {
  std::string name;
  DType dtype = DType::none;
  Shape shape;
  std::string_view bytes;  // little-endian values; a view of the file
};

// The tensors, sorted by name; their bytes are views of `bytes`. Fails if the header is truncated
// or malformed, a name is duplicated, a dtype is unknown, or a range is out of bounds, overlaps
// another or does not match the shape.
Result<std::vector<NamedTensor>> parse_safetensors(std::string_view bytes,
                                                   std::string_view file_name);

// Serialises tensors, sorted by name; the data begins at a multiple of 8 bytes.
std::string write_safetensors(std::span<const NamedTensor> tensors);

}  // namespace recut

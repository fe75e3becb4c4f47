// Equal chunks for collectives: uneven ones are padded with zeros at the end of the dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/eval/tensor.h"

namespace recut::mesh {

// Elements of a chunk with its padding: ceil(size / chunks).
std::int64_t padded_chunk(std::int64_t size, std::int64_t chunks);

// The chunks of a dimension, all of padded_chunk() elements.
std::vector<Tensor> padded_chunks(const Tensor& tensor, std::int64_t dim, std::int64_t chunks);

// Bytes of a tensor's elements, whatever its layout.
std::int64_t bytes_of_values(const Tensor& tensor);

}  // namespace recut::mesh

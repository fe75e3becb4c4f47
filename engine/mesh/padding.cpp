#include "engine/mesh/padding.h"

#include "engine/mesh/blocks.h"

namespace recut::mesh {

std::int64_t padded_chunk(std::int64_t size, std::int64_t chunks) {
  return (size + chunks - 1) / chunks;
}

std::vector<Tensor> padded_chunks(const Tensor& tensor, std::int64_t dim, std::int64_t chunks) {
  const std::int64_t full = padded_chunk(tensor.shape[static_cast<std::size_t>(dim)], chunks);
  const Tensor padded = pad_end(tensor, dim, full * chunks);
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < chunks; ++i) parts.push_back(narrow(padded, dim, {i * full, full}));
  return parts;
}

std::int64_t bytes_of_values(const Tensor& tensor) {
  return tensor.count() * item_bytes(tensor.dtype);
}

}  // namespace recut::mesh

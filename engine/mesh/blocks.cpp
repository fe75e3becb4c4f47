#include "engine/mesh/blocks.h"

#include <cstring>

#include "engine/support/check.h"

namespace recut::mesh {
namespace {

std::int64_t first_byte(const Tensor& tensor, const Shape& at) {
  std::int64_t element = tensor.offset;
  for (std::size_t d = 0; d < at.size(); ++d) element += at[d] * tensor.strides[d];
  return element * item_bytes(tensor.dtype);
}

bool is_box_of(const Tensor& tensor, const Shape& offset, const Shape& shape) {
  if (offset.size() != tensor.shape.size() || shape.size() != tensor.shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (offset[d] < 0 || shape[d] < 0 || offset[d] + shape[d] > tensor.shape[d]) return false;
  return true;
}

}  // namespace

Tensor zeros(DType dtype, Shape shape) {
  return allocate(make_type(dtype, std::move(shape)), nullptr);
}

void copy_box(const Tensor& from, const Shape& from_offset, Tensor& to, const Shape& to_offset,
              const Shape& shape) {
  RECUT_CHECK(from.dtype == to.dtype, "a box has one dtype");
  const std::int64_t count = element_count(shape);
  if (count == 0) return;
  RECUT_CHECK(is_box_of(from, from_offset, shape) && is_box_of(to, to_offset, shape),
              "a box lies in its tensor");
  const std::int64_t item = item_bytes(from.dtype);
  const std::byte* source = from.storage->data() + first_byte(from, from_offset);
  std::byte* target = to.storage->data() + first_byte(to, to_offset);
  Shape at(shape.size(), 0);
  std::int64_t read = 0, written = 0;  // in elements
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(target + written * item, source + read * item, static_cast<std::size_t>(item));
    for (std::size_t d = at.size(); d-- > 0;) {
      read += from.strides[d];
      written += to.strides[d];
      if (++at[d] < shape[d]) break;
      read -= from.strides[d] * shape[d];
      written -= to.strides[d] * shape[d];
      at[d] = 0;
    }
  }
}

Tensor extract(const Tensor& tensor, const Block& block) {
  Tensor box = zeros(tensor.dtype, block.shape);
  copy_box(tensor, block.offset, box, Shape(block.shape.size(), 0), block.shape);
  return box;
}

Tensor narrow(const Tensor& tensor, std::int64_t dim, Interval part) {
  Block block{Shape(tensor.shape.size(), 0), tensor.shape};
  block.offset[static_cast<std::size_t>(dim)] = part.offset;
  block.shape[static_cast<std::size_t>(dim)] = part.size;
  return extract(tensor, block);
}

Tensor pad_end(const Tensor& tensor, std::int64_t dim, std::int64_t size) {
  Shape shape = tensor.shape;
  shape[static_cast<std::size_t>(dim)] = size;
  Tensor padded = zeros(tensor.dtype, shape);
  const Shape origin(shape.size(), 0);
  copy_box(tensor, origin, padded, origin, tensor.shape);
  return padded;
}

Tensor concatenate(std::span<const Tensor> tensors, std::int64_t dim) {
  const auto d = static_cast<std::size_t>(dim);
  Shape shape = tensors.front().shape;
  shape[d] = 0;
  for (const Tensor& tensor : tensors) shape[d] += tensor.shape[d];
  Tensor joined = zeros(tensors.front().dtype, shape);
  const Shape origin(shape.size(), 0);
  Shape place = origin;
  for (const Tensor& tensor : tensors) {
    copy_box(tensor, origin, joined, place, tensor.shape);
    place[d] += tensor.shape[d];
  }
  return joined;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  const Block all{Shape(a.shape.size(), 0), a.shape};
  const Tensor x = extract(a, all), y = extract(b, all);
  if (x.storage->size() != y.storage->size()) return false;
  const auto bytes = static_cast<std::size_t>(x.storage->size());
  // Empty storages may have no address.
  return bytes == 0 || std::memcmp(x.storage->data(), y.storage->data(), bytes) == 0;
}

}  // namespace recut::mesh

// Copies between boxes of tensors, byte by byte: values of every dtype keep their bits.
#pragma once

#include <cstdint>
#include <span>

#include "engine/eval/tensor.h"
#include "engine/mesh/sharding.h"

namespace recut::mesh {

// A contiguous tensor of zeros.
Tensor zeros(DType dtype, Shape shape);

// Copies the box of `shape` at `from_offset` of one tensor to `to_offset` of another of the same
// dtype. Both boxes lie in their tensors.
void copy_box(const Tensor& from, const Shape& from_offset, Tensor& to, const Shape& to_offset,
              const Shape& shape);

// The box as a contiguous tensor.
Tensor extract(const Tensor& tensor, const Block& block);

// The elements `part` of a dimension, as a contiguous tensor.
Tensor narrow(const Tensor& tensor, std::int64_t dim, Interval part);

// The tensor with zeros at the end of a dimension, up to `size` elements; contiguous.
Tensor pad_end(const Tensor& tensor, std::int64_t dim, std::int64_t size);

// The tensors joined along a dimension; their other sizes and dtypes are equal.
Tensor concatenate(std::span<const Tensor> tensors, std::int64_t dim);

// True if dtypes, shapes and all bits are equal.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace recut::mesh

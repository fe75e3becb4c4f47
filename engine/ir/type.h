// The static type of a value: dtype, shape, layout and device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/dtype.h"
#include "engine/support/result.h"

namespace recut {

using Shape =
    std::vector<std::int64_t>;  // elements by dimension, outermost first; empty: zero-dimensional
using Strides =
    std::vector<std::int64_t>;  // elements to step by dimension, as PyTorch records them

// The largest size of a value that Recut accepts; sums of sizes then never overflow 64 bits.
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;

struct TensorType {
  DType dtype = DType::none;
  Shape shape;
  Strides strides;
  std::string device;  // "" is the graph's own device; "cpu" a host scalar in a GPU graph

  bool exists() const { return dtype != DType::none; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Elements, and bytes as the memory model counts them: elements times item size, whatever the
// strides.
std::int64_t element_count(std::span<const std::int64_t> shape);
std::int64_t byte_size(const TensorType& type);

Strides contiguous_strides(std::span<const std::int64_t> shape);
bool is_contiguous(const TensorType& type);

// True if the strides are a permutation of contiguous ones: every byte belongs to one element.
bool is_dense(const TensorType& type);

// A contiguous type.
TensorType make_type(DType dtype, Shape shape, std::string device = {});

// Fails if a dimension is negative or the value is larger than kMaxBytes.
Result<Done> check_size(const TensorType& type);

// The broadcast shape of `a` and `b` by numpy's rule; fails if they don't fit.
Result<Shape> broadcast(const Shape& a, const Shape& b);

// Wraps a dimension in -rank … rank-1 to 0 … rank-1 (as in ATen, rank 0 counts as 1).
Result<std::int64_t> wrap_dimension(std::int64_t dimension, std::int64_t rank);

// The type as text: "f32[4, 768]"; with "{1, 4}" after it if the layout is not contiguous, and with
// " on cpu" if the device is not the graph's.
std::string format(const TensorType& type);
std::string format_shape(std::span<const std::int64_t> shape);

// A device in the text form: a bare word, or a quoted string ("cuda:0").
std::string format_device(std::string_view device);

}  // namespace recut

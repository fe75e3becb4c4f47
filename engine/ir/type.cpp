#include "engine/ir/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/support/text.h"

namespace recut {

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (std::int64_t d : shape) count *= d;
  return count;
}

std::int64_t byte_size(const TensorType& type) {
  return element_count(type.shape) * item_bytes(type.dtype);
}

Strides contiguous_strides(std::span<const std::int64_t> shape) {
  Strides strides(shape.size());
  // Unsigned, as it may overflow: rules make types of unchecked sizes, and check_size runs after
  // them.
  std::uint64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(step);
    // An empty dimension steps like one of length 1, as in PyTorch.
    if (shape[i] > 1) step *= static_cast<std::uint64_t>(shape[i]);
  }
  return strides;
}

bool is_contiguous(const TensorType& type) {
  std::int64_t step = 1;
  for (std::size_t i = type.shape.size(); i-- > 0;) {
    if (type.shape[i] == 0) return true;
    if (type.shape[i] != 1 && type.strides[i] != step) return false;
    step *= type.shape[i];
  }
  return true;
}

bool is_dense(const TensorType& type) {
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < type.shape.size(); ++i)
    if (type.shape[i] != 1) dims.push_back(i);
  std::sort(dims.begin(), dims.end(),
            [&](std::size_t a, std::size_t b) { return type.strides[a] < type.strides[b]; });
  std::int64_t step = 1;
  for (const std::size_t i : dims) {
    if (type.strides[i] != step) return false;
    step *= type.shape[i];
  }
  return true;
}

TensorType make_type(DType dtype, Shape shape, std::string device) {
  Strides strides = contiguous_strides(shape);
  return TensorType{dtype, std::move(shape), std::move(strides), std::move(device)};
}

Result<Done> check_size(const TensorType& type) {
  std::int64_t bytes = item_bytes(type.dtype);
  bool empty = false;
  for (std::int64_t d : type.shape) {
    if (d < 0)
      return error(
          fmt::format("dimension {} of shape {} is negative", d, format_shape(type.shape)));
    empty = empty || d == 0;
  }
  // Dimensions of an empty tensor are bounded too, so that no product of them overflows.
  for (std::int64_t d : type.shape) {
    if (d == 0) continue;
    if (bytes > kMaxBytes / d)
      return error(
          fmt::format("a tensor of shape {} is larger than the {} bytes that a value may have",
                      format_shape(type.shape), kMaxBytes));
    bytes *= d;
  }
  return Done{};
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const std::int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1)
      return error(fmt::format("shapes {} and {} do not broadcast (dimension {}: {} against {})",
                               format_shape(a), format_shape(b), i, x, y));
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Result<std::int64_t> wrap_dimension(std::int64_t dimension, std::int64_t rank) {
  const std::int64_t bound = rank == 0 ? 1 : rank;
  if (dimension < -bound || dimension >= bound)
    return error(fmt::format("dimension {} is out of range for {} dimensions", dimension, rank));
  return dimension < 0 ? dimension + bound : dimension;
}

std::string format_shape(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string format_device(std::string_view device) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool word = !device.empty() && letter(device.front()) &&
                    std::all_of(device.begin(), device.end(),
                                [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  return word ? std::string(device) : string_literal(device);
}

std::string format(const TensorType& type) {
  if (!type.exists()) return "none";
  std::string text = fmt::format("{}{}", short_name(type.dtype), format_shape(type.shape));
  if (type.strides != contiguous_strides(type.shape))
    text += fmt::format("{{{}}}", fmt::join(type.strides, ", "));
  if (!type.device.empty()) text += " on " + format_device(type.device);
  return text;
}

}  // namespace recut

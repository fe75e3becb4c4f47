// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace recut {

// `none` is the type of an output that an operator does not produce (a masked-out gradient).
// Values of the dtypes from c128 on are shown, priced and planned only: has_arithmetic().
enum class DType : std::uint8_t {
  none,
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u8,
  boolean,
  c128,
  c64,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  u64,
  u32,
  u16
};
inline constexpr std::size_t kDTypes = 20;

std::int64_t item_bytes(DType dtype);
bool is_floating(DType dtype);
bool is_complex(DType dtype);
bool has_arithmetic(DType dtype);  // whether Recut computes with it; not of none
bool is_integral(DType dtype);     // i64 … u8, without bool

// Recut's short name, "f32", and PyTorch's, "float32".
std::string_view short_name(DType dtype);
std::string_view torch_name(DType dtype);
std::optional<DType> dtype_from_short_name(std::string_view name);
std::optional<DType> dtype_from_torch_name(std::string_view name);

// PyTorch's promotion of two dtypes of the same category rank (tensors with dimensions):
// torch.promote_types.
DType promote(DType a, DType b);

}  // namespace recut

// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace recut {

// `none` is the type of an output that an operator does not produce (a masked-out gradient).
// The interpreter computes values of the dtypes up to f8e5m2fnuz (has_values()), compiled code those
// up to boolean (has_arithmetic()). Values of all dtypes are shown, priced and planned.
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
bool is_floating(DType dtype);  // f64 … bf16, and the 8-bit reals
bool is_float8(DType dtype);
bool is_complex(DType dtype);
bool has_gradient(DType dtype);    // real or complex
bool has_values(DType dtype);      // whether the interpreter computes it; not of none
bool has_arithmetic(DType dtype);  // whether passes and compiled code compute with it
bool is_integral(DType dtype);     // i64 … u8, without bool

// The dtype of a complex number's parts, and the complex dtype of which a real one is the parts'
// (c64 for f16 and bf16, too). Other dtypes stay.
DType real_of(DType dtype);
DType complex_of(DType dtype);

// Recut's short name, "f32", and PyTorch's, "float32".
std::string_view short_name(DType dtype);
std::string_view torch_name(DType dtype);
std::optional<DType> dtype_from_short_name(std::string_view name);
std::optional<DType> dtype_from_torch_name(std::string_view name);

// PyTorch's promotion of two dtypes of the same category rank (tensors with dimensions):
// torch.promote_types.
DType promote(DType a, DType b);

}  // namespace recut

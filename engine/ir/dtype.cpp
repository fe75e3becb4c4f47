#include "engine/ir/dtype.h"

#include <array>
#include <cstddef>

namespace recut {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view short_name;
  std::string_view torch_name;
  std::int64_t bytes;
};

// In the order of the enum, so that a DType indexes its row.
constexpr std::array<DTypeRow, kDTypes> kDTypeRows = {
    {{DType::none, "none", "none", 0},
     {DType::f64, "f64", "float64", 8},
     {DType::f32, "f32", "float32", 4},
     {DType::f16, "f16", "float16", 2},
     {DType::bf16, "bf16", "bfloat16", 2},
     {DType::i64, "i64", "int64", 8},
     {DType::i32, "i32", "int32", 4},
     {DType::i16, "i16", "int16", 2},
     {DType::i8, "i8", "int8", 1},
     {DType::u8, "u8", "uint8", 1},
     {DType::boolean, "bool", "bool", 1},
     {DType::c128, "c128", "complex128", 16},
     {DType::c64, "c64", "complex64", 8},
     {DType::f8e4m3fn, "f8e4m3fn", "float8_e4m3fn", 1},
     {DType::f8e5m2, "f8e5m2", "float8_e5m2", 1},
     {DType::f8e4m3fnuz, "f8e4m3fnuz", "float8_e4m3fnuz", 1},
     {DType::f8e5m2fnuz, "f8e5m2fnuz", "float8_e5m2fnuz", 1},
     {DType::u64, "u64", "uint64", 8},
     {DType::u32, "u32", "uint32", 4},
     {DType::u16, "u16", "uint16", 2}}};

const DTypeRow& row(DType dtype) { return kDTypeRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::int64_t item_bytes(DType dtype) { return row(dtype).bytes; }

bool is_floating(DType dtype) {
  return (dtype >= DType::f64 && dtype <= DType::bf16) || is_float8(dtype);
}

bool is_float8(DType dtype) { return dtype >= DType::f8e4m3fn && dtype <= DType::f8e5m2fnuz; }

bool is_complex(DType dtype) { return dtype == DType::c128 || dtype == DType::c64; }

bool has_gradient(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

bool has_values(DType dtype) { return dtype >= DType::f64 && dtype <= DType::f8e5m2fnuz; }

bool has_arithmetic(DType dtype) { return dtype >= DType::f64 && dtype <= DType::boolean; }

bool is_integral(DType dtype) { return dtype >= DType::i64 && dtype <= DType::u8; }

DType real_of(DType dtype) {
  if (dtype == DType::c128) return DType::f64;
  return dtype == DType::c64 ? DType::f32 : dtype;
}

DType complex_of(DType dtype) {
  if (dtype == DType::f64) return DType::c128;
  return is_floating(dtype) ? DType::c64 : dtype;
}

std::string_view short_name(DType dtype) { return row(dtype).short_name; }

std::string_view torch_name(DType dtype) { return row(dtype).torch_name; }

std::optional<DType> dtype_from_short_name(std::string_view name) {
  for (const DTypeRow& r : kDTypeRows)
    if (r.short_name == name && r.dtype != DType::none) return r.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_torch_name(std::string_view name) {
  for (const DTypeRow& r : kDTypeRows)
    if (r.torch_name == name && r.dtype != DType::none) return r.dtype;
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::boolean || a == DType::none) return b;
  if (b == DType::boolean || b == DType::none) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = a == DType::c128 || b == DType::c128 || a == DType::f64 || b == DType::f64;
    return wide ? DType::c128 : DType::c64;
  }
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (is_floating(a)) {
    const bool mixed_halves =
        (a == DType::f16 && b == DType::bf16) || (a == DType::bf16 && b == DType::f16);
    return mixed_halves ? DType::f32 : (a < b ? a : b);  // the enum runs from wide to narrow
  }
  // PyTorch refuses most of these; the file's types stand in such a call (dtype_without_arithmetic,
  // call.h).
  if (!has_arithmetic(a) || !has_arithmetic(b)) return has_arithmetic(a) ? a : b;
  // A signed type holds every u8 only from 16 bits on.
  if ((a == DType::i8 && b == DType::u8) || (a == DType::u8 && b == DType::i8)) return DType::i16;
  return a < b ? a : b;
}

}  // namespace recut

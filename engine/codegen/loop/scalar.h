// Scalar operators of the loop form and the types that they have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/ir/dtype.h"

namespace recut::loop {

// Values have the types f64, f32, i64, i32 and bool. The other dtypes are storage formats.
bool is_value_type(DType type);

// The type of a value loaded from or stored to a buffer of this dtype: f16 and bf16 widen to f32,
// and i16, i8 and u8 to i32.
DType value_type(DType stored);

enum class ScalarOp : std::uint8_t {
#define SCALAR(identifier, name, signature, meaning) identifier,
#include "engine/codegen/loop/scalar_operators.def"
#undef SCALAR
};

// Operand and result types. The result has the operands' type unless a comment says otherwise.
enum class Signature : std::uint8_t {
  numbers1,  // any type but bool
  numbers2,
  reals1,  // f32 or f64
  reals2,
  integers2,  // i32 or i64
  bits1,      // i32, i64 or bool
  bits2,
  comparison,        // two of any one type, gives bool
  selection,         // a bool and two of any one type
  conversion,        // any, gives any
  narrowing,         // a real or an integer, and a dtype that stores its type
  reinterpretation,  // a real or an integer, gives the other one of as many bits
  random_seed,       // nothing, gives i64
  random_bits,       // three i64, gives i64
  random_uniform,    // an i64 of bits and one of digits, gives f64
  random_normal,     // an i64 of bits, gives f64
  random_below,      // an i64 of bits and a positive i64, gives i64
};

struct ScalarOperator {
  ScalarOp op;
  std::string_view name;
  Signature signature;
  std::string_view meaning;

  std::size_t operands() const;
};

std::span<const ScalarOperator> all_scalar_operators();
const ScalarOperator& scalar_operator(ScalarOp op);
const ScalarOperator* find_scalar_operator(std::string_view name);

// The reason why `result` and `stored` (of narrow, else none) don't fit these operands; nothing if
// they do.
std::optional<std::string> type_fault(ScalarOp op, std::span<const DType> operands, DType result,
                                      DType stored);

// The operator of accumulators and combining stores.
enum class Combine : std::uint8_t { add, mul, max, min, bit_and, bit_or };

std::string_view name_of(Combine combine);
std::optional<Combine> find_combine(std::string_view name);
ScalarOp operator_of(Combine combine);

// True if combining in any order gives the same bits, so that several threads may combine into one
// element.
bool is_reassociable(DType type);

}  // namespace recut::loop

// Types of scalar operators. The table (scalar_operators.def) gives each operator a signature; here
// a signature becomes the number of operands, the set of types that they may have, and the type of
// the result. Parser, verifier and lowering ask type_fault() and share its messages.
#include "engine/codegen/loop/scalar.h"

#include <fmt/core.h>

#include <array>

namespace recut::loop {
namespace {

constexpr std::array kOperators{
#define SCALAR(identifier, name, signature, meaning) \
  ScalarOperator{ScalarOp::identifier, name, Signature::signature, meaning},
#include "engine/codegen/loop/scalar_operators.def"
#undef SCALAR
};

struct CombineRow {
  Combine combine;
  std::string_view name;
  ScalarOp op;
};
constexpr std::array kCombines{
    CombineRow{Combine::add, "add", ScalarOp::add},
    CombineRow{Combine::mul, "mul", ScalarOp::mul},
    CombineRow{Combine::max, "max", ScalarOp::max},
    CombineRow{Combine::min, "min", ScalarOp::min},
    CombineRow{Combine::bit_and, "and", ScalarOp::bit_and},
    CombineRow{Combine::bit_or, "or", ScalarOp::bit_or},
};

enum TypeSet : unsigned { kReals = 1, kIntegers = 2, kBool = 4 };

unsigned type_set(DType type) {
  if (is_floating(type)) return kReals;
  return type == DType::boolean ? kBool : kIntegers;
}

// The types that operands may have, except for the condition of a select.
unsigned operand_types(Signature signature) {
  switch (signature) {
    case Signature::numbers1:
    case Signature::numbers2:
    case Signature::narrowing:
    case Signature::reinterpretation:
      return kReals | kIntegers;
    case Signature::reals1:
    case Signature::reals2:
      return kReals;
    case Signature::integers2:
      return kIntegers;
    case Signature::bits1:
    case Signature::bits2:
      return kIntegers | kBool;
    default:
      return kReals | kIntegers | kBool;
  }
}

bool is_random(Signature signature) {
  return signature == Signature::random_bits || signature == Signature::random_uniform ||
         signature == Signature::random_normal || signature == Signature::random_below;
}

// The real type of the same width as an integer type, and vice versa.
DType same_width_type(DType type) {
  switch (type) {
    case DType::f32:
      return DType::i32;
    case DType::f64:
      return DType::i64;
    case DType::i32:
      return DType::f32;
    default:
      return DType::f64;
  }
}

DType result_type(Signature signature, DType operand, DType result) {
  switch (signature) {
    case Signature::comparison:
      return DType::boolean;
    case Signature::conversion:
      return result;
    case Signature::reinterpretation:
      return same_width_type(operand);
    case Signature::random_seed:
    case Signature::random_bits:
    case Signature::random_below:
      return DType::i64;
    case Signature::random_uniform:
    case Signature::random_normal:
      return DType::f64;
    default:
      return operand;
  }
}

// narrow to f32 is for numbers that are computed in f64, to f16 and bf16 for those of both types.
bool stores(DType stored, DType type) {
  if (is_floating(type)) return is_floating(stored) && item_bytes(stored) < item_bytes(type);
  return is_integral(stored) && item_bytes(stored) < item_bytes(type);
}

}  // namespace

bool is_value_type(DType type) {
  return type == DType::f64 || type == DType::f32 || type == DType::i64 || type == DType::i32 ||
         type == DType::boolean;
}

DType value_type(DType stored) {
  if (is_value_type(stored)) return stored;
  return is_floating(stored) ? DType::f32 : DType::i32;
}

std::size_t ScalarOperator::operands() const {
  switch (signature) {
    case Signature::numbers1:
    case Signature::reals1:
    case Signature::bits1:
    case Signature::conversion:
    case Signature::narrowing:
    case Signature::reinterpretation:
    case Signature::random_normal:
      return 1;
    case Signature::random_seed:
      return 0;
    case Signature::selection:
    case Signature::random_bits:
      return 3;
    default:
      return 2;
  }
}

std::span<const ScalarOperator> all_scalar_operators() { return kOperators; }

const ScalarOperator& scalar_operator(ScalarOp op) {
  return kOperators[static_cast<std::size_t>(op)];
}

const ScalarOperator* find_scalar_operator(std::string_view name) {
  for (const ScalarOperator& row : kOperators)
    if (row.name == name) return &row;
  return nullptr;
}

std::optional<std::string> type_fault(ScalarOp op, std::span<const DType> operands, DType result,
                                      DType stored) {
  const ScalarOperator& row = scalar_operator(op);
  if (operands.size() != row.operands())
    return fmt::format("{} takes {} operands, found {}", row.name, row.operands(), operands.size());
  const bool is_select = row.signature == Signature::selection;
  if (is_select && operands[0] != DType::boolean)
    return fmt::format("{} asks a bool, found {}", row.name, short_name(operands[0]));
  const DType type = operands.empty() ? DType::i64 : operands[is_select ? 1 : 0];
  for (std::size_t i = is_select ? 1 : 0; i < operands.size(); ++i) {
    if (is_random(row.signature) && operands[i] != DType::i64)
      return fmt::format("{} takes i64, found {}", row.name, short_name(operands[i]));
    if ((type_set(operands[i]) & operand_types(row.signature)) == 0)
      return fmt::format("{} does not take {}", row.name, short_name(operands[i]));
    if (operands[i] != type)
      return fmt::format("{} takes operands of one type, found {} and {}", row.name,
                         short_name(type), short_name(operands[i]));
  }
  if (row.signature == Signature::narrowing && !stores(stored, type))
    return fmt::format("{} is not narrower than {}", short_name(stored), short_name(type));
  const DType expected = result_type(row.signature, type, result);
  if (result != expected)
    return fmt::format("{} gives {}, found {}", row.name, short_name(expected), short_name(result));
  return std::nullopt;
}

std::string_view name_of(Combine combine) {
  return kCombines[static_cast<std::size_t>(combine)].name;
}

std::optional<Combine> find_combine(std::string_view name) {
  for (const CombineRow& row : kCombines)
    if (row.name == name) return row.combine;
  return std::nullopt;
}

ScalarOp operator_of(Combine combine) { return kCombines[static_cast<std::size_t>(combine)].op; }

bool is_reassociable(DType type) {
  // Sums of reals round by their order, and max and min pick one of two zeros by it.
  return !is_floating(type);
}

}  // namespace recut::loop

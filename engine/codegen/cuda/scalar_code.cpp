// Operators as C++ expressions. C++ leaves signed overflow, large shifts and division by -1
// undefined, so integers go through helpers (device/arithmetic.cuh) that define them; reals use
// operators and CUDA's math functions, compiled without fast math and contraction.
#include "engine/codegen/cuda/scalar_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/support/check.h"

namespace recut::cuda {
namespace {

using loop::ScalarOp;

// Operators by the kind of number: infix, or "name()" for a function or helper; "": none.
struct OperatorRow {
  ScalarOp op;
  std::string_view real, integer;
};
constexpr std::array kOperatorTexts{
    OperatorRow{ScalarOp::add, "+", "plus()"},
    OperatorRow{ScalarOp::sub, "-", "minus()"},
    OperatorRow{ScalarOp::mul, "*", "times()"},
    OperatorRow{ScalarOp::div, "/", ""},
    OperatorRow{ScalarOp::quotient, "", "quotient()"},
    OperatorRow{ScalarOp::rem, "", "integer_remainder()"},
    OperatorRow{ScalarOp::max, "larger()", "larger()"},
    OperatorRow{ScalarOp::min, "smaller()", "smaller()"},
    OperatorRow{ScalarOp::bit_and, "", "&"},
    OperatorRow{ScalarOp::bit_or, "", "|"},
    OperatorRow{ScalarOp::bit_xor, "", "^"},
    OperatorRow{ScalarOp::shift_left, "", "shifted_left()"},
    OperatorRow{ScalarOp::shift_right, "", "shifted_right()"},
    OperatorRow{ScalarOp::eq, "==", "=="},
    OperatorRow{ScalarOp::ne, "!=", "!="},
    OperatorRow{ScalarOp::lt, "<", "<"},
    OperatorRow{ScalarOp::le, "<=", "<="},
    OperatorRow{ScalarOp::gt, ">", ">"},
    OperatorRow{ScalarOp::ge, ">=", ">="},
};

// Operators of reals whose function in CUDA's math library has another name.
struct LibraryFunction {
  ScalarOp op;
  std::string_view name;
};
constexpr std::array kLibraryFunctions{
    LibraryFunction{ScalarOp::rem, "fmod"},
    LibraryFunction{ScalarOp::abs, "fabs"},
    LibraryFunction{ScalarOp::nearest, "rint"},
};

template <class Table>
auto find(const Table& table, ScalarOp op) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.op == op; });
  return row != table.end() ? &*row : nullptr;
}

std::string call(std::string_view function, std::span<const std::string> x) {
  return fmt::format("{}({})", function, fmt::join(x, ", "));
}

std::string cast(DType to, const std::string& x) {
  const std::string type = value_type_name(to);
  return type.find(' ') == std::string::npos ? fmt::format("{}({})", type, x)
                                             : fmt::format("({}){}", type, x);
}

std::string convert(DType from, DType to, const std::string& x, Helpers& helpers) {
  if (from == to) return x;
  if (to == DType::boolean) return x + " != 0";
  if (!is_floating(from) || is_floating(to)) return cast(to, x);
  const std::string whole = call(helpers.use("truncated"), std::array{x});
  return to == DType::i64 ? whole : cast(to, whole);
}

std::string reinterpret(DType from, const std::string& x) {
  switch (from) {
    case DType::f32:
      return fmt::format("__float_as_int({})", x);
    case DType::f64:
      return fmt::format("__double_as_longlong({})", x);
    case DType::i32:
      return fmt::format("__int_as_float({})", x);
    default:
      return fmt::format("__longlong_as_double({})", x);
  }
}

std::string narrow(DType type, DType stored, const std::string& x, Helpers& helpers) {
  const bool real = is_floating(type);
  if (item_bytes(type) == 8 && item_bytes(stored) >= 4)  // f64 by f32, i64 by i32
    return cast(type, cast(stored, x));
  const std::string small = item_bytes(type) == 4 ? x
                            : real                ? call(helpers.use("round_to_odd"), std::array{x})
                                                  : cast(DType::i32, x);
  const std::string back =
      value_of_memory(stored, memory_of_value(stored, small, helpers), helpers);
  return item_bytes(type) == 4 ? back : cast(type, back);
}

std::string of_one_integer(ScalarOp op, DType type, const std::string& x, Helpers& helpers) {
  const std::string zero = literal(type, {});
  switch (op) {
    case ScalarOp::neg:
      return call(helpers.use("minus"), std::array{zero, x});
    case ScalarOp::abs:
      return fmt::format("{} < 0 ? {} : {}", x, call(helpers.use("minus"), std::array{zero, x}), x);
    case ScalarOp::bit_not:
      return (type == DType::boolean ? "!" : "~") + x;
    default:
      break;
  }
  RECUT_CHECK(false, "every operator of integers has code");
}

std::string real_literal(DType type, double number) {
  if (type == DType::f32) number = static_cast<float>(number);
  if (!std::isfinite(number)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    if (type == DType::f64) return fmt::format("__longlong_as_double(0x{:016x}LL)", bits);
    const auto narrow = static_cast<float>(number);
    std::uint32_t half = 0;
    std::memcpy(&half, &narrow, sizeof half);
    return fmt::format("__int_as_float(0x{:08x})", half);
  }
  std::string text = type == DType::f32 ? fmt::format("{}", static_cast<float>(number))
                                        : fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return type == DType::f32 ? text + "f" : text;
}

}  // namespace

std::string value_type_name(DType type) {
  switch (type) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::i64:
      return "long long";
    case DType::i32:
      return "int";
    case DType::boolean:
      return "bool";
    default:
      break;
  }
  RECUT_CHECK(false, "values have value types");
}

std::string memory_type_name(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
      return "unsigned short";
    case DType::i16:
      return "short";
    case DType::i8:
      return "signed char";
    case DType::u8:
    case DType::boolean:
      return "unsigned char";
    default:
      return value_type_name(dtype);
  }
}

std::string literal(DType type, const loop::Constant& constant) {
  if (is_floating(type)) {
    const std::string text = real_literal(type, constant.real);
    return text.front() == '-' ? "(" + text + ")" : text;
  }
  if (type == DType::boolean) return constant.integer != 0 ? "true" : "false";
  const std::string_view ending = type == DType::i64 ? "LL" : "";
  const std::int64_t least = type == DType::i64 ? INT64_MIN : INT32_MIN;
  if (constant.integer == least)
    return fmt::format("(-{}{} - 1)", type == DType::i64 ? INT64_MAX : INT32_MAX, ending);
  return constant.integer < 0 ? fmt::format("({}{})", constant.integer, ending)
                              : fmt::format("{}{}", constant.integer, ending);
}

std::string scalar_code(const loop::Apply& apply, DType type, DType result,
                        std::span<const std::string> x, Helpers& helpers) {
  const ScalarOp op = apply.op;
  switch (loop::scalar_operator(op).signature) {
    case loop::Signature::random_seed:
      return "seed";
    case loop::Signature::selection:
      return fmt::format("{} ? {} : {}", x[0], x[1], x[2]);
    case loop::Signature::conversion:
      return convert(type, result, x[0], helpers);
    case loop::Signature::narrowing:
      return narrow(type, apply.stored, x[0], helpers);
    case loop::Signature::reinterpretation:
      return reinterpret(type, x[0]);
    default:
      break;
  }
  const bool real = is_floating(type);
  if (const OperatorRow* row = find(kOperatorTexts, op)) {
    const std::string_view how = real ? row->real : row->integer;
    if (how.ends_with("()"))
      return call(helpers.use(std::string(how.substr(0, how.size() - 2))), x);
    if (!how.empty()) return fmt::format("{} {} {}", x[0], how, x[1]);
  }
  if (!real) return of_one_integer(op, type, x[0], helpers);
  if (op == ScalarOp::neg) return "-" + x[0];
  const LibraryFunction* library = find(kLibraryFunctions, op);
  const std::string_view name = library != nullptr ? library->name : loop::scalar_operator(op).name;
  return call(fmt::format("{}{}", name, type == DType::f32 ? "f" : ""), x);
}

std::string combine_code(loop::Combine how, DType type, const std::string& so_far,
                         const std::string& next, Helpers& helpers) {
  loop::Apply apply;
  apply.op = loop::operator_of(how);
  return scalar_code(apply, type, type, std::array{next, so_far}, helpers);
}

std::string multiply_add_code(DType type, const std::string& a, const std::string& b,
                              const std::string& so_far, Helpers& helpers) {
  if (type == DType::f32) return call("__fmaf_rn", std::array{a, b, so_far});
  if (type == DType::f64) return call("__fma_rn", std::array{a, b, so_far});
  const std::string product = combine_code(loop::Combine::mul, type, b, a, helpers);
  return combine_code(loop::Combine::add, type, so_far, product, helpers);
}

std::string value_of_memory(DType dtype, const std::string& element, Helpers& helpers) {
  switch (dtype) {
    case DType::f16:
      return call(helpers.use("of_half"), std::array{element});
    case DType::bf16:
      return call(helpers.use("of_bfloat16"), std::array{element});
    case DType::i16:
    case DType::i8:
    case DType::u8:
      return cast(DType::i32, element);
    case DType::boolean:
      return element + " != 0";
    default:
      return element;
  }
}

std::string memory_of_value(DType dtype, const std::string& value, Helpers& helpers) {
  switch (dtype) {
    case DType::f16:
      return call(helpers.use("half"), std::array{value});
    case DType::bf16:
      return call(helpers.use("bfloat16"), std::array{value});
    case DType::i16:
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return fmt::format("({})({})", memory_type_name(dtype), value);
    default:
      return value;
  }
}

}  // namespace recut::cuda

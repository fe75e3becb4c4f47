// Operators are of three kinds: one instruction or intrinsic (the table below), a short sequence
// (division, shifts, conversions, min and max with NaN), and a call of the C library in f64. LLVM
// leaves sdiv by -1 of the least integer, shifts by too much and fptosi of large numbers undefined;
// the loop form defines them, so the sequences select safe operands first.
#include "engine/codegen/llvm/scalar_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/codegen/llvm/storage_code.h"
#include "engine/support/check.h"

namespace recut::llvm_ir {
namespace {

using loop::ScalarOp;

// Operators that are one instruction or intrinsic, by the kind of number.
struct InstructionRow {
  ScalarOp op;
  std::string_view real;     // instruction of reals; "@name": an intrinsic; "": none
  std::string_view integer;  // the same of integers and bools
};
constexpr std::array kInstructions{
    InstructionRow{ScalarOp::add, "fadd", "add"},
    InstructionRow{ScalarOp::sub, "fsub", "sub"},
    InstructionRow{ScalarOp::mul, "fmul", "mul"},
    InstructionRow{ScalarOp::div, "fdiv", ""},
    InstructionRow{ScalarOp::bit_and, "", "and"},
    InstructionRow{ScalarOp::bit_or, "", "or"},
    InstructionRow{ScalarOp::bit_xor, "", "xor"},
    InstructionRow{ScalarOp::neg, "fneg", ""},
    InstructionRow{ScalarOp::abs, "@llvm.fabs", ""},
    InstructionRow{ScalarOp::sqrt, "@llvm.sqrt", ""},
    InstructionRow{ScalarOp::floor, "@llvm.floor", ""},
    InstructionRow{ScalarOp::ceil, "@llvm.ceil", ""},
    InstructionRow{ScalarOp::trunc, "@llvm.trunc", ""},
    InstructionRow{ScalarOp::nearest, "@llvm.roundeven", ""},
    InstructionRow{ScalarOp::copysign, "@llvm.copysign", ""},
    InstructionRow{ScalarOp::max, "", "@llvm.smax"},
    InstructionRow{ScalarOp::min, "", "@llvm.smin"},
};

// Operators computed by a function of the C library, in f64 and rounded once.
struct LibraryFunction {
  ScalarOp op;
  std::string_view name;
};
constexpr std::array kLibraryFunctions{
    LibraryFunction{ScalarOp::rem, "fmod"},      LibraryFunction{ScalarOp::exp, "exp"},
    LibraryFunction{ScalarOp::exp2, "exp2"},     LibraryFunction{ScalarOp::expm1, "expm1"},
    LibraryFunction{ScalarOp::log, "log"},       LibraryFunction{ScalarOp::log2, "log2"},
    LibraryFunction{ScalarOp::log10, "log10"},   LibraryFunction{ScalarOp::log1p, "log1p"},
    LibraryFunction{ScalarOp::sin, "sin"},       LibraryFunction{ScalarOp::cos, "cos"},
    LibraryFunction{ScalarOp::tan, "tan"},       LibraryFunction{ScalarOp::asin, "asin"},
    LibraryFunction{ScalarOp::acos, "acos"},     LibraryFunction{ScalarOp::atan, "atan"},
    LibraryFunction{ScalarOp::sinh, "sinh"},     LibraryFunction{ScalarOp::cosh, "cosh"},
    LibraryFunction{ScalarOp::tanh, "tanh"},     LibraryFunction{ScalarOp::asinh, "asinh"},
    LibraryFunction{ScalarOp::acosh, "acosh"},   LibraryFunction{ScalarOp::atanh, "atanh"},
    LibraryFunction{ScalarOp::erf, "erf"},       LibraryFunction{ScalarOp::erfc, "erfc"},
    LibraryFunction{ScalarOp::lgamma, "lgamma"}, LibraryFunction{ScalarOp::pow, "pow"},
    LibraryFunction{ScalarOp::atan2, "atan2"},   LibraryFunction{ScalarOp::hypot, "hypot"},
};

template <class Table>
auto find(const Table& table, ScalarOp op) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.op == op; });
  return row != table.end() ? &*row : nullptr;
}

std::vector<IrValue> list_of(std::span<const IrValue> operands) {
  return {operands.begin(), operands.end()};
}

IrValue instruction_code(IrBuilder& ir, std::string_view instruction,
                         std::span<const IrValue> operands) {
  if (instruction.front() == '@') return ir.intrinsic(instruction.substr(1), list_of(operands));
  const DType type = operands.front().type;
  if (operands.size() == 1) return ir.apply(instruction, type, operands[0]);
  return ir.apply(instruction, type, operands[0], operands[1]);
}

IrValue library_call(IrBuilder& ir, std::string_view name, std::span<const IrValue> operands) {
  const bool narrow = operands.front().type == DType::f32;
  std::vector<IrValue> wide;
  for (const IrValue& operand : operands)
    wide.push_back(narrow ? ir.cast("fpext", operand, DType::f64) : operand);
  const IrValue made = ir.call_per_lane(name, DType::f64, wide);
  return narrow ? ir.cast("fptrunc", made, DType::f32) : made;
}

// a if it is NaN or beyond b, else b.
IrValue min_or_max(IrBuilder& ir, const char* beyond, const IrValue& a, const IrValue& b) {
  const IrValue further = ir.apply(fmt::format("fcmp {}", beyond), DType::boolean, a, b);
  const IrValue nan = ir.apply("fcmp uno", DType::boolean, a, a);
  return ir.select(ir.apply("or", DType::boolean, nan, further), a, b);
}

IrValue compare(IrBuilder& ir, ScalarOp op, const IrValue& a, const IrValue& b) {
  struct Row {
    ScalarOp op;
    const char *real, *integer, *boolean;
  };
  constexpr std::array kRows{
      Row{ScalarOp::eq, "oeq", "eq", "eq"},   Row{ScalarOp::ne, "une", "ne", "ne"},
      Row{ScalarOp::lt, "olt", "slt", "ult"}, Row{ScalarOp::le, "ole", "sle", "ule"},
      Row{ScalarOp::gt, "", "sgt", "ugt"},    Row{ScalarOp::ge, "oge", "sge", "uge"},
  };
  // LLVM 19 believes that a select of x by |x| > 0 is positive (its fcmpImpliesClass), and drops a
  // later |.| of it; with 0 < |x| it doesn't.
  if (is_floating(a.type) && op == ScalarOp::gt) return compare(ir, ScalarOp::lt, b, a);
  const Row* row = find(kRows, op);
  if (is_floating(a.type)) return ir.apply(fmt::format("fcmp {}", row->real), DType::boolean, a, b);
  const char* how = a.type == DType::boolean ? row->boolean : row->integer;
  return ir.apply(fmt::format("icmp {}", how), DType::boolean, a, b);
}

// Towards zero. NaN and numbers that don't fit give the most negative i64.
IrValue truncated(IrBuilder& ir, const IrValue& x) {
  const IrValue above = ir.apply("fcmp ogt", DType::boolean, x, IrBuilder::real(x.type, -0x1p63));
  const IrValue below = ir.apply("fcmp olt", DType::boolean, x, IrBuilder::real(x.type, 0x1p63));
  const IrValue fits = ir.apply("and", DType::boolean, above, below);
  const IrValue safe = ir.select(fits, x, IrBuilder::real(x.type, 0));
  return ir.select(fits, ir.cast("fptosi", safe, DType::i64),
                   IrBuilder::integer(DType::i64, INT64_MIN));
}

IrValue convert(IrBuilder& ir, const IrValue& x, DType to) {
  if (x.type == to) return x;
  const bool real = is_floating(x.type);
  if (to == DType::boolean) {
    const IrValue zero = real ? IrBuilder::real(x.type, 0) : IrBuilder::integer(x.type, 0);
    return ir.apply(real ? "fcmp une" : "icmp ne", DType::boolean, x, zero);
  }
  if (is_floating(to)) {
    if (real) return ir.cast(to == DType::f64 ? "fpext" : "fptrunc", x, to);
    return ir.cast(x.type == DType::boolean ? "uitofp" : "sitofp", x, to);
  }
  const IrValue whole = real ? truncated(ir, x) : x;
  if (whole.type == to) return whole;
  if (whole.type == DType::boolean) return ir.cast("zext", whole, to);
  return ir.cast(to == DType::i64 ? "sext" : "trunc", whole, to);
}

IrValue division(IrBuilder& ir, ScalarOp op, const IrValue& a, const IrValue& b) {
  // The only quotient that overflows, by -1, wraps around like a negation.
  const IrValue minus_one = IrBuilder::integer(a.type, -1), one = IrBuilder::integer(a.type, 1);
  const IrValue negates = ir.apply("icmp eq", DType::boolean, b, minus_one);
  const IrValue safe = ir.select(negates, one, b);
  if (op == ScalarOp::rem)
    return ir.select(negates, IrBuilder::integer(a.type, 0), ir.apply("srem", a.type, a, safe));
  const IrValue negated = ir.apply("sub", a.type, IrBuilder::integer(a.type, 0), a);
  return ir.select(negates, negated, ir.apply("sdiv", a.type, a, safe));
}

IrValue shift(IrBuilder& ir, ScalarOp op, const IrValue& a, const IrValue& b) {
  const std::int64_t bits = a.type == DType::i32 ? 32 : 64;
  const IrValue inside = ir.apply("icmp ult", DType::boolean, b, IrBuilder::integer(a.type, bits));
  if (op == ScalarOp::shift_right)
    return ir.apply("ashr", a.type, a, ir.select(inside, b, IrBuilder::integer(a.type, bits - 1)));
  const IrValue shifted =
      ir.apply("shl", a.type, a, ir.select(inside, b, IrBuilder::integer(a.type, 0)));
  return ir.select(inside, shifted, IrBuilder::integer(a.type, 0));
}

IrValue integer_operator(IrBuilder& ir, ScalarOp op, std::span<const IrValue> x) {
  const DType type = x[0].type;
  const IrValue zero = IrBuilder::integer(type, 0);
  switch (op) {
    case ScalarOp::neg:
      return ir.apply("sub", type, zero, x[0]);
    case ScalarOp::abs:
      return ir.select(ir.apply("icmp slt", DType::boolean, x[0], zero),
                       ir.apply("sub", type, zero, x[0]), x[0]);
    case ScalarOp::bit_not:
      return ir.apply("xor", type, x[0], IrBuilder::integer(type, type == DType::boolean ? 1 : -1));
    case ScalarOp::shift_left:
    case ScalarOp::shift_right:
      return shift(ir, op, x[0], x[1]);
    case ScalarOp::quotient:
    case ScalarOp::rem:
      return division(ir, op, x[0], x[1]);
    default:
      break;
  }
  RECUT_CHECK(false, "every operator of integers has instructions");
}

}  // namespace

IrValue scalar_code(IrBuilder& ir, const loop::Apply& apply, DType result,
                    std::span<const IrValue> x, const IrValue& seed) {
  const ScalarOp op = apply.op;
  if (op == ScalarOp::seed) return seed;
  const DType type = x.back().type;
  switch (loop::scalar_operator(op).signature) {
    case loop::Signature::comparison:
      return compare(ir, op, x[0], x[1]);
    case loop::Signature::selection:
      return ir.select(x[0], x[1], x[2]);
    case loop::Signature::conversion:
      return convert(ir, x[0], result);
    case loop::Signature::narrowing:
      return narrow_code(ir, x[0], apply.stored);
    case loop::Signature::reinterpretation:
      return ir.cast("bitcast", x[0], result);
    default:
      break;
  }
  if (const InstructionRow* row = find(kInstructions, op)) {
    const std::string_view instruction = is_floating(type) ? row->real : row->integer;
    if (!instruction.empty()) return instruction_code(ir, instruction, x);
  }
  if (!is_floating(type)) return integer_operator(ir, op, x);
  if (op == ScalarOp::max) return min_or_max(ir, "ogt", x[0], x[1]);
  if (op == ScalarOp::min) return min_or_max(ir, "olt", x[0], x[1]);
  if (op == ScalarOp::nextafter)
    return ir.call_per_lane(type == DType::f32 ? "nextafterf" : "nextafter", type, list_of(x));
  const LibraryFunction* library = find(kLibraryFunctions, op);
  RECUT_CHECK(library != nullptr, "every operator of reals has code");
  return library_call(ir, library->name, x);
}

IrValue combine_code(IrBuilder& ir, loop::Combine how, const IrValue& a, const IrValue& b) {
  loop::Apply apply;
  apply.op = loop::operator_of(how);
  const std::array operands{a, b};
  return scalar_code(ir, apply, a.type, operands, IrBuilder::integer(DType::i64, 0));
}

IrValue multiply_add_code(IrBuilder& ir, const IrValue& a, const IrValue& b, const IrValue& c) {
  if (is_floating(c.type)) return ir.intrinsic("llvm.fmuladd", {a, b, c});
  const IrValue product = combine_code(ir, loop::Combine::mul, a, b);
  return combine_code(ir, loop::Combine::add, c, product);
}

}  // namespace recut::llvm_ir

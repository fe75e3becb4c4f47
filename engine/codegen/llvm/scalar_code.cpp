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
struct Plain {
  ScalarOp op;
  std::string_view real;     // instruction of reals; "@name": an intrinsic; "": none
  std::string_view integer;  // the same of integers and bools
};
constexpr std::array kPlain{
    Plain{ScalarOp::add, "fadd", "add"},
    Plain{ScalarOp::sub, "fsub", "sub"},
    Plain{ScalarOp::mul, "fmul", "mul"},
    Plain{ScalarOp::div, "fdiv", ""},
    Plain{ScalarOp::bit_and, "", "and"},
    Plain{ScalarOp::bit_or, "", "or"},
    Plain{ScalarOp::bit_xor, "", "xor"},
    Plain{ScalarOp::neg, "fneg", ""},
    Plain{ScalarOp::abs, "@llvm.fabs", ""},
    Plain{ScalarOp::sqrt, "@llvm.sqrt", ""},
    Plain{ScalarOp::floor, "@llvm.floor", ""},
    Plain{ScalarOp::ceil, "@llvm.ceil", ""},
    Plain{ScalarOp::trunc, "@llvm.trunc", ""},
    Plain{ScalarOp::nearest, "@llvm.roundeven", ""},
    Plain{ScalarOp::copysign, "@llvm.copysign", ""},
    Plain{ScalarOp::max, "", "@llvm.smax"},
    Plain{ScalarOp::min, "", "@llvm.smin"},
};

// Operators computed by a function of the C library, in f64 and rounded once.
struct Library {
  ScalarOp op;
  std::string_view name;
};
constexpr std::array kLibrary{
    Library{ScalarOp::rest, "fmod"},     Library{ScalarOp::exp, "exp"},
    Library{ScalarOp::exp2, "exp2"},     Library{ScalarOp::expm1, "expm1"},
    Library{ScalarOp::log, "log"},       Library{ScalarOp::log2, "log2"},
    Library{ScalarOp::log10, "log10"},   Library{ScalarOp::log1p, "log1p"},
    Library{ScalarOp::sin, "sin"},       Library{ScalarOp::cos, "cos"},
    Library{ScalarOp::tan, "tan"},       Library{ScalarOp::asin, "asin"},
    Library{ScalarOp::acos, "acos"},     Library{ScalarOp::atan, "atan"},
    Library{ScalarOp::sinh, "sinh"},     Library{ScalarOp::cosh, "cosh"},
    Library{ScalarOp::tanh, "tanh"},     Library{ScalarOp::asinh, "asinh"},
    Library{ScalarOp::acosh, "acosh"},   Library{ScalarOp::atanh, "atanh"},
    Library{ScalarOp::erf, "erf"},       Library{ScalarOp::erfc, "erfc"},
    Library{ScalarOp::lgamma, "lgamma"}, Library{ScalarOp::pow, "pow"},
    Library{ScalarOp::atan2, "atan2"},   Library{ScalarOp::hypot, "hypot"},
};

template <class Table>
auto find(const Table& table, ScalarOp op) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.op == op; });
  return row != table.end() ? &*row : nullptr;
}

std::vector<Code> list_of(std::span<const Code> operands) {
  return {operands.begin(), operands.end()};
}

Code plainly(Writer& w, std::string_view instruction, std::span<const Code> operands) {
  if (instruction.front() == '@') return w.intrinsic(instruction.substr(1), list_of(operands));
  const DType type = operands.front().type;
  if (operands.size() == 1) return w.apply(instruction, type, operands[0]);
  return w.apply(instruction, type, operands[0], operands[1]);
}

Code by_library(Writer& w, std::string_view name, std::span<const Code> operands) {
  const bool narrow = operands.front().type == DType::f32;
  std::vector<Code> wide;
  for (const Code& operand : operands)
    wide.push_back(narrow ? w.cast("fpext", operand, DType::f64) : operand);
  const Code made = w.call_each(name, DType::f64, wide);
  return narrow ? w.cast("fptrunc", made, DType::f32) : made;
}

// a if it is NaN or beyond b, else b.
Code extreme(Writer& w, const char* beyond, const Code& a, const Code& b) {
  const Code further = w.apply(fmt::format("fcmp {}", beyond), DType::boolean, a, b);
  const Code nan = w.apply("fcmp uno", DType::boolean, a, a);
  return w.select(w.apply("or", DType::boolean, nan, further), a, b);
}

Code compare(Writer& w, ScalarOp op, const Code& a, const Code& b) {
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
  if (is_floating(a.type) && op == ScalarOp::gt) return compare(w, ScalarOp::lt, b, a);
  const Row* row = find(kRows, op);
  if (is_floating(a.type)) return w.apply(fmt::format("fcmp {}", row->real), DType::boolean, a, b);
  const char* how = a.type == DType::boolean ? row->boolean : row->integer;
  return w.apply(fmt::format("icmp {}", how), DType::boolean, a, b);
}

// Towards zero. NaN and numbers that don't fit give the most negative i64.
Code truncated(Writer& w, const Code& x) {
  const Code above = w.apply("fcmp ogt", DType::boolean, x, Writer::real(x.type, -0x1p63));
  const Code below = w.apply("fcmp olt", DType::boolean, x, Writer::real(x.type, 0x1p63));
  const Code fits = w.apply("and", DType::boolean, above, below);
  const Code safe = w.select(fits, x, Writer::real(x.type, 0));
  return w.select(fits, w.cast("fptosi", safe, DType::i64), Writer::integer(DType::i64, INT64_MIN));
}

Code convert(Writer& w, const Code& x, DType to) {
  if (x.type == to) return x;
  const bool real = is_floating(x.type);
  if (to == DType::boolean) {
    const Code zero = real ? Writer::real(x.type, 0) : Writer::integer(x.type, 0);
    return w.apply(real ? "fcmp une" : "icmp ne", DType::boolean, x, zero);
  }
  if (is_floating(to)) {
    if (real) return w.cast(to == DType::f64 ? "fpext" : "fptrunc", x, to);
    return w.cast(x.type == DType::boolean ? "uitofp" : "sitofp", x, to);
  }
  const Code whole = real ? truncated(w, x) : x;
  if (whole.type == to) return whole;
  if (whole.type == DType::boolean) return w.cast("zext", whole, to);
  return w.cast(to == DType::i64 ? "sext" : "trunc", whole, to);
}

Code division(Writer& w, ScalarOp op, const Code& a, const Code& b) {
  // The only quotient that overflows, by -1, wraps around like a negation.
  const Code minus_one = Writer::integer(a.type, -1), one = Writer::integer(a.type, 1);
  const Code negates = w.apply("icmp eq", DType::boolean, b, minus_one);
  const Code safe = w.select(negates, one, b);
  if (op == ScalarOp::rest)
    return w.select(negates, Writer::integer(a.type, 0), w.apply("srem", a.type, a, safe));
  const Code negated = w.apply("sub", a.type, Writer::integer(a.type, 0), a);
  return w.select(negates, negated, w.apply("sdiv", a.type, a, safe));
}

Code shift(Writer& w, ScalarOp op, const Code& a, const Code& b) {
  const std::int64_t bits = a.type == DType::i32 ? 32 : 64;
  const Code inside = w.apply("icmp ult", DType::boolean, b, Writer::integer(a.type, bits));
  if (op == ScalarOp::shift_right)
    return w.apply("ashr", a.type, a, w.select(inside, b, Writer::integer(a.type, bits - 1)));
  const Code shifted = w.apply("shl", a.type, a, w.select(inside, b, Writer::integer(a.type, 0)));
  return w.select(inside, shifted, Writer::integer(a.type, 0));
}

Code of_integers(Writer& w, ScalarOp op, std::span<const Code> x) {
  const DType type = x[0].type;
  const Code zero = Writer::integer(type, 0);
  switch (op) {
    case ScalarOp::neg:
      return w.apply("sub", type, zero, x[0]);
    case ScalarOp::abs:
      return w.select(w.apply("icmp slt", DType::boolean, x[0], zero),
                      w.apply("sub", type, zero, x[0]), x[0]);
    case ScalarOp::bit_not:
      return w.apply("xor", type, x[0], Writer::integer(type, type == DType::boolean ? 1 : -1));
    case ScalarOp::shift_left:
    case ScalarOp::shift_right:
      return shift(w, op, x[0], x[1]);
    case ScalarOp::quotient:
    case ScalarOp::rest:
      return division(w, op, x[0], x[1]);
    default:
      break;
  }
  RECUT_CHECK(false, "every operator of integers has instructions");
}

}  // namespace

Code scalar_code(Writer& w, const loop::Apply& apply, DType result, std::span<const Code> x,
                 const Code& seed) {
  const ScalarOp op = apply.op;
  if (op == ScalarOp::seed) return seed;
  const DType type = x.back().type;
  switch (loop::scalar_operator(op).signature) {
    case loop::Signature::comparison:
      return compare(w, op, x[0], x[1]);
    case loop::Signature::choice:
      return w.select(x[0], x[1], x[2]);
    case loop::Signature::conversion:
      return convert(w, x[0], result);
    case loop::Signature::narrowing:
      return narrow_code(w, x[0], apply.stored);
    case loop::Signature::reinterpretation:
      return w.cast("bitcast", x[0], result);
    default:
      break;
  }
  if (const Plain* plain = find(kPlain, op)) {
    const std::string_view instruction = is_floating(type) ? plain->real : plain->integer;
    if (!instruction.empty()) return plainly(w, instruction, x);
  }
  if (!is_floating(type)) return of_integers(w, op, x);
  if (op == ScalarOp::max) return extreme(w, "ogt", x[0], x[1]);
  if (op == ScalarOp::min) return extreme(w, "olt", x[0], x[1]);
  if (op == ScalarOp::nextafter)
    return w.call_each(type == DType::f32 ? "nextafterf" : "nextafter", type, list_of(x));
  const Library* library = find(kLibrary, op);
  RECUT_CHECK(library != nullptr, "every operator of reals has code");
  return by_library(w, library->name, x);
}

Code combine_code(Writer& w, loop::Combine how, const Code& a, const Code& b) {
  loop::Apply apply;
  apply.op = loop::operator_of(how);
  const std::array operands{a, b};
  return scalar_code(w, apply, a.type, operands, Writer::integer(DType::i64, 0));
}

Code multiply_add_code(Writer& w, const Code& a, const Code& b, const Code& c) {
  if (is_floating(c.type)) return w.intrinsic("llvm.fmuladd", {a, b, c});
  const Code product = combine_code(w, loop::Combine::mul, a, b);
  return combine_code(w, loop::Combine::add, c, product);
}

}  // namespace recut::llvm_ir

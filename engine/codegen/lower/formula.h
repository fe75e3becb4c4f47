// Formulas: the scalar expression of one element of an operator's output (inner_fn of an Inductor
// Pointwise). formulas/ has one entry an operator. The meaning is that of engine/eval/kernels, but
// no code is shared with it: each checks the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/lower/lowering.h"

namespace recut::loop {

// The dtype that a Python scalar is rounded to next to f16 and bf16 tensors: f32 in arithmetic, the
// tensor's own in comparisons.
enum class Numbers : std::uint8_t { arithmetic, comparison };

// The context of a formula: one element of one output of one call.
class Site {
 public:
  Site(Lowering& lowering, const Call& call, Made made, const Indices& at)
      : lowering(lowering), call(call), made(made), at(at) {}

  Lowering& lowering;
  const Call& call;
  const Made made;
  const Indices& at;

  DType dtype() const { return lowering.type(made).dtype; }  // of the output

  // The common dtype of all operands (ATen's type promotion); real_common takes integers as f32.
  DType common() const;
  DType real_common() const;

  // The element of a broadcast parameter at `at`, cast to `common`; a scalar argument is cast
  // likewise.
  Quantity operand(std::string_view parameter, DType common,
                   Numbers numbers = Numbers::arithmetic) const;
  Quantity operand(std::size_t parameter, DType common,
                   Numbers numbers = Numbers::arithmetic) const;

  // The element in its storage dtype, without a cast.
  Quantity raw(std::string_view parameter) const;
  Quantity raw(std::string_view parameter, const Indices& place) const;

  // A Scalar parameter, rounded as a computation in `common` rounds it.
  double given(std::string_view parameter, DType common) const;

  // A constant of the type that `common` is computed in.
  Quantity number(double value, DType common) const {
    return lowering.constant(lowering.compute_type(common), value);
  }
};

// May return any type: the value is then rounded to the output's dtype.
using Formula = Quantity (*)(const Site& site);

// Returns why a call is unsupported, or nothing where it is supported.
using Refusal = std::optional<std::string> (*)(const Call& call);

struct FormulaRow {
  Op op;
  Formula formula = nullptr;
  Refusal refusal = nullptr;  // null: every call has a formula
};

// The entry of an operator; its formula is null where it has none.
const FormulaRow& formula_row(Op op);

using FormulaTable = std::vector<FormulaRow>;
// Adds the entries of every file in formulas/; the build generates it (engine/CMakeLists.txt).
void add_all_formulas(FormulaTable& table);

// Adapters from functions of scalar expressions (captureless lambdas) to formulas.

// Unary, on real numbers; integers become f32 first.
template <class F>
Formula real(F) {
  return [](const Site& s) { return F{}(s.operand(std::size_t{0}, s.real_common())); };
}
template <class F>
Formula reals(F) {
  return [](const Site& s) {
    const DType common = s.real_common();
    const Quantity a = s.operand(std::size_t{0}, common);
    return F{}(a, s.operand(1, common));
  };
}
// Unary on real numbers, computed in f64 for every dtype.
template <class F>
Formula wide(F) {
  return
      [](const Site& s) { return F{}(s.operand(std::size_t{0}, s.real_common()).to(DType::f64)); };
}
// On integers as well as reals.
template <class F>
Formula numeric(F) {
  return [](const Site& s) { return F{}(s.operand(std::size_t{0}, s.common())); };
}
template <class F>
Formula numerics(F) {
  return [](const Site& s) {
    const DType common = s.common();
    const Quantity a = s.operand(std::size_t{0}, common);
    return F{}(a, s.operand(1, common));
  };
}
// Comparisons: the result is a bool.
template <class F>
Formula predicate(F) {
  return
      [](const Site& s) { return F{}(s.operand(std::size_t{0}, s.common(), Numbers::comparison)); };
}
template <class F>
Formula predicates(F) {
  return [](const Site& s) {
    const DType common = s.common();
    const Quantity a = s.operand(std::size_t{0}, common, Numbers::comparison);
    return F{}(a, s.operand(1, common, Numbers::comparison));
  };
}

// A dimension argument, wrapped to 0 ... rank - 1.
inline std::size_t dimension(const Site& s, std::string_view parameter, std::size_t rank) {
  return static_cast<std::size_t>(
      wrap_dimension(s.call.integer(parameter), static_cast<std::int64_t>(rank)).value());
}

}  // namespace recut::loop

// Formulas: what one element of an operator's output is, in scalars. One row an operator, in
// formulas/; the meaning is that of engine/eval/kernels, from which no code is shared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/lower/lowering.h"

namespace recut::loop {

// Which dtype a Python number is rounded to beside f16 and bf16 tensors: arithmetic takes it as
// f32, comparisons as the tensor's own.
enum class Numbers : std::uint8_t { arithmetic, comparison };

// One element of one output of one call.
class Site {
 public:
  Site(Lowering& lowering, const Call& call, Made made, const Indices& at)
      : lowering(lowering), call(call), made(made), at(at) {}

  Lowering& lowering;
  const Call& call;
  const Made made;
  const Indices& at;

  DType dtype() const { return lowering.type(made).dtype; }  // of the output

  // The dtype that the computation is in: of all operands, with integers as f32 (ATen's promotion).
  DType common() const;
  DType real_common() const;

  // A parameter's element at this place, broadcast, cast to `common`; a number given for it
  // likewise.
  Quantity operand(std::string_view parameter, DType common,
                   Numbers numbers = Numbers::arithmetic) const;
  Quantity operand(std::size_t parameter, DType common,
                   Numbers numbers = Numbers::arithmetic) const;

  // The element as it is stored, without a cast.
  Quantity raw(std::string_view parameter) const;
  Quantity raw(std::string_view parameter, const Indices& place) const;

  // A Scalar parameter as the computation in `common` sees it.
  double given(std::string_view parameter, DType common) const;

  // A number in the type that `common` is computed in.
  Quantity number(double value, DType common) const {
    return lowering.constant(lowering.compute_type(common), value);
  }
};

// Gives a number of any type, which is then rounded to the output's dtype.
using Formula = Quantity (*)(const Site& site);

// Why this call's formula can't be written; nothing where it can.
using Refusal = std::optional<std::string> (*)(const Call& call);

struct FormulaRow {
  Op op;
  Formula formula = nullptr;
  Refusal refusal = nullptr;  // null: every call has a formula
};

// Rows of all files, by Op; its formula is null where an operator has none.
const FormulaRow& formula_row(Op op);

using FormulaTable = std::vector<FormulaRow>;
// Those of every file in formulas/: the build lists them (engine/CMakeLists.txt).
void add_all_formulas(FormulaTable& table);

// Formulas from functions of quantities: lambdas without captures.

// Of real numbers; integers become f32 first.
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
// Of a real number, in f64 whatever the dtype.
template <class F>
Formula wide(F) {
  return
      [](const Site& s) { return F{}(s.operand(std::size_t{0}, s.real_common()).to(DType::f64)); };
}
// Of both kinds of numbers.
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
// Predicates.
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

// The dimension that an attribute names, counted from the front.
inline std::size_t dimension(const Site& s, std::string_view parameter, std::size_t rank) {
  return static_cast<std::size_t>(
      wrap_dimension(s.call.integer(parameter), static_cast<std::int64_t>(rank)).value());
}

}  // namespace recut::loop

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
enum class ScalarPromotion : std::uint8_t { arithmetic, comparison };

// The context of a formula: one element of one output of one call.
class ElementContext {
 public:
  ElementContext(Lowering& lowering, const Call& call, ValueRef output, const Indices& at)
      : lowering(lowering), call(call), output(output), at(at) {}

  Lowering& lowering;
  const Call& call;
  const ValueRef output;
  const Indices& at;

  DType dtype() const { return lowering.type(output).dtype; }  // of the output

  // The common dtype of all operands (ATen's type promotion); real_common takes integers as f32.
  DType common() const;
  DType real_common() const;

  // The element of a broadcast parameter at `at`, cast to `common`; a scalar argument is cast
  // likewise.
  ScalarExpr operand(std::string_view parameter, DType common,
                     ScalarPromotion promotion = ScalarPromotion::arithmetic) const;
  ScalarExpr operand(std::size_t parameter, DType common,
                     ScalarPromotion promotion = ScalarPromotion::arithmetic) const;

  // The element in its storage dtype, without a cast.
  ScalarExpr raw(std::string_view parameter) const;
  ScalarExpr raw(std::string_view parameter, const Indices& position) const;

  // A Scalar parameter, rounded as a computation in `common` rounds it.
  double scalar_value(std::string_view parameter, DType common) const;

  // A constant of the type that `common` is computed in.
  ScalarExpr number(double value, DType common) const {
    return lowering.constant(lowering.compute_type(common), value);
  }
};

// May return any type: the value is then rounded to the output's dtype.
using Formula = ScalarExpr (*)(const ElementContext& ctx);

// Returns why a call is unsupported, or nothing where it is supported.
using UnsupportedReason = std::optional<std::string> (*)(const Call& call);

// The dtypes that a formula takes besides those with arithmetic: 8-bit reals that it moves or
// casts, or complex numbers, whose parts it moves.
enum class FormulaDTypes : std::uint8_t { arithmetic, float8, complex };

struct FormulaEntry {
  Op op;
  Formula formula = nullptr;
  UnsupportedReason unsupported = nullptr;  // null: every call has a formula
  FormulaDTypes dtypes = FormulaDTypes::arithmetic;
};

// The entry of an operator; its formula is null where it has none.
const FormulaEntry& formula_entry(Op op);

using FormulaTable = std::vector<FormulaEntry>;
// Adds the entries of every file in formulas/; the build generates it (engine/CMakeLists.txt).
void add_all_formulas(FormulaTable& table);

// Adapters from functions of scalar expressions (captureless lambdas) to formulas.

// Unary, on real numbers; integers become f32 first.
template <class F>
Formula real(F) {
  return
      [](const ElementContext& ctx) { return F{}(ctx.operand(std::size_t{0}, ctx.real_common())); };
}
template <class F>
Formula reals(F) {
  return [](const ElementContext& ctx) {
    const DType common = ctx.real_common();
    const ScalarExpr a = ctx.operand(std::size_t{0}, common);
    return F{}(a, ctx.operand(1, common));
  };
}
// Unary on real numbers, computed in f64 for every dtype.
template <class F>
Formula wide(F) {
  return [](const ElementContext& ctx) {
    return F{}(ctx.operand(std::size_t{0}, ctx.real_common()).to(DType::f64));
  };
}
// On integers as well as reals.
template <class F>
Formula numeric(F) {
  return [](const ElementContext& ctx) { return F{}(ctx.operand(std::size_t{0}, ctx.common())); };
}
template <class F>
Formula numerics(F) {
  return [](const ElementContext& ctx) {
    const DType common = ctx.common();
    const ScalarExpr a = ctx.operand(std::size_t{0}, common);
    return F{}(a, ctx.operand(1, common));
  };
}
// Comparisons: the result is a bool.
template <class F>
Formula predicate(F) {
  return [](const ElementContext& ctx) {
    return F{}(ctx.operand(std::size_t{0}, ctx.common(), ScalarPromotion::comparison));
  };
}
template <class F>
Formula predicates(F) {
  return [](const ElementContext& ctx) {
    const DType common = ctx.common();
    const ScalarExpr a = ctx.operand(std::size_t{0}, common, ScalarPromotion::comparison);
    return F{}(a, ctx.operand(1, common, ScalarPromotion::comparison));
  };
}

// A dimension argument, wrapped to 0 ... rank - 1.
inline std::size_t dimension(const ElementContext& ctx, std::string_view parameter,
                             std::size_t rank) {
  return static_cast<std::size_t>(
      wrap_dimension(ctx.call.integer(parameter), static_cast<std::int64_t>(rank)).value());
}

}  // namespace recut::loop

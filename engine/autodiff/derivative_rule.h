// Derivative rules: one rule an operator, in rules/*.cpp by family.
//
// A rule is of one of these kinds:
//   vjp            A vector-Jacobian product for each differentiable parameter: its gradient, made
//                  from the gradient of the output with the builder of the VjpContext.
//   elementwise    A VJP whose Jacobian is diagonal (apart from broadcasting). With the tangent in
//                  place of the gradient, the same formula is the Jacobian-vector product.
//   linear         The VJP of an operator that is linear in each of these parameters alone (in all
//                  tensors of a list together). Forward mode applies the operator to the tangent.
//   decomposition  The same outputs by simpler operators, which are differentiated instead. For
//                  composite operators, and for backward operators in second derivatives.
//   constant       Not differentiable, or with derivative zero everywhere; the rule says why.
// The caller sums a formula's value to the parameter's shape and converts it to its dtype, so that
// formulas of broadcasting operators need not.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/autodiff/vjp_context.h"

namespace recut::autodiff {

using VjpFormula = Value (*)(VjpContext&);
// One entry for each tensor of a Tensor[] parameter. An entry may be invalid if its tensor needs no
// gradient.
using VjpListFormula = std::vector<Value> (*)(VjpContext&);
// One entry for each output. Entries of integer outputs and of unused outputs may be invalid.
using DecompositionFormula = std::vector<Value> (*)(VjpContext&);

struct Partial {
  std::string_view parameter;
  VjpFormula formula = nullptr;
  VjpListFormula list = nullptr;

  Partial(std::string_view p, VjpFormula f) : parameter(p), formula(f) {}
  Partial(std::string_view p, VjpListFormula f) : parameter(p), list(f) {}
};

enum class DerivativeKind : std::uint8_t { vjp, elementwise, linear, decomposition, constant };

struct DerivativeRule {
  std::vector<Op> ops;  // overloads that share it; a parameter that one lacks is skipped
  DerivativeKind kind = DerivativeKind::constant;
  std::vector<Partial> partials;
  DecompositionFormula decomposition = nullptr;  // if `kind` is vjp: for forward mode alone
  std::string_view reason;
  // Outputs beyond these get no derivative, though they are real (statistics kept for backward).
  int outputs = 64;

  const Partial* partial(std::string_view parameter) const;
};

// The use of an operator's rule for calls with complex numbers. A gradient is PyTorch's: twice the
// derivative by the conjugate, of a function whose value is real.
enum class ComplexRule : std::uint8_t {
  none,        // it is for real numbers alone
  plain,       // as for real numbers: the operator is linear with real factors, or has its own rule
  conjugated,  // complex differentiable: the gradient is conj(formula(conj(gradient)))
  transposed,  // as for real numbers, but forward mode transposes the VJP
};
ComplexRule complex_rule(Op op);

// Null if the operator has no rule.
const DerivativeRule* find_derivative_rule(Op op);

// Constructors of rules, by kind.
DerivativeRule vjp(std::vector<Op> ops, std::vector<Partial> partials, int outputs = 64);
// A VJP for reverse mode and a decomposition for forward mode. For operators whose ATen backward
// operator has no rule of its own.
DerivativeRule vjp_and_decomposition(std::vector<Op> ops, std::vector<Partial> partials,
                                     DecompositionFormula forward, int outputs = 64);
DerivativeRule elementwise(std::vector<Op> ops, std::vector<Partial> partials);
DerivativeRule linear(std::vector<Op> ops, std::vector<Partial> partials);
DerivativeRule decomposes(std::vector<Op> ops, DecompositionFormula decomposition,
                          int outputs = 64);
DerivativeRule constant(std::vector<Op> ops, std::string_view reason);

// The rules of every file in rules/, which the build lists (engine/CMakeLists.txt). An operator has
// one rule at most.
using DerivativeRules = std::vector<DerivativeRule>;
std::vector<DerivativeRules> all_derivative_rules();

}  // namespace recut::autodiff

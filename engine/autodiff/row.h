// Derivative rules: one row an operator, in rules/*.cpp by family.
//
// A row is one of
//   formulas    for each differentiable parameter the gradient that it gets from the gradient of
//   the
//               output: a vector-Jacobian product, written with the builder at the call's Site.
//   elementwise formulas whose Jacobian is diagonal (but for broadcasting), so that the same
//   formula
//               with the parameter's tangent in the gradient's place is the Jacobian-vector
//               product.
//   linear      formulas of an operator that is linear in each of these parameters by itself (in
//   all
//               tensors of a list together): forward mode applies the operator to the tangent.
//   expansion   the same outputs by other operators, which are differentiated in its stead: what is
//               composite, and the smooth backward operators when they are differentiated again.
//   constant    not differentiable, or with derivative zero everywhere; the row says why.
// What a formula gives is summed to the parameter's shape and converted to its dtype by the caller,
// so that formulas of broadcasting operators need not think of that.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/autodiff/site.h"

namespace recut::autodiff {

using Formula = Value (*)(Site&);
// One entry a tensor of a Tensor[] parameter; entries may be invalid where the site wants none.
using ListFormula = std::vector<Value> (*)(Site&);
// One entry an output; those that are integers, or that nobody needs, may be invalid.
using Expansion = std::vector<Value> (*)(Site&);

struct Partial {
  std::string_view parameter;
  Formula formula = nullptr;
  ListFormula list = nullptr;

  Partial(std::string_view p, Formula f) : parameter(p), formula(f) {}
  Partial(std::string_view p, ListFormula f) : parameter(p), list(f) {}
};

enum class RowKind : std::uint8_t { formulas, elementwise, linear, expansion, constant };

struct Row {
  std::vector<Op> ops;  // overloads that share it; a parameter that one lacks is passed over
  RowKind kind = RowKind::constant;
  std::vector<Partial> partials;
  Expansion expansion = nullptr;  // where `kind` is formulas: for forward mode alone
  std::string_view reason;
  // Outputs beyond these get no derivative, though they are real (statistics kept for backward).
  int outputs = 64;

  const Partial* partial(std::string_view parameter) const;
};

// Null where the operator has no row.
const Row* find_row(Op op);

// What the files of rules are written with.
Row formulas(std::vector<Op> ops, std::vector<Partial> partials, int outputs = 64);
// Formulas for reverse mode, an expansion for forward mode: where ATen's backward operator has no
// rule of its own.
Row formulas_and_forward(std::vector<Op> ops, std::vector<Partial> partials, Expansion forward,
                         int outputs = 64);
Row elementwise(std::vector<Op> ops, std::vector<Partial> partials);
Row linear(std::vector<Op> ops, std::vector<Partial> partials);
Row expands(std::vector<Op> ops, Expansion expansion, int outputs = 64);
Row constant(std::vector<Op> ops, std::string_view reason);

// Those of every file in rules/, each operator in one of them at most: the build lists them
// (engine/CMakeLists.txt).
using Rows = std::vector<Row>;
std::vector<Rows> all_rows();

}  // namespace recut::autodiff

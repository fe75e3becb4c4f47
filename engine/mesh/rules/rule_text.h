// Rows of the table of sharding rules (*.def), as text and parsed.
//
//   m k, k n -> m n; k: sum; linear self; linear mat2
//
// Before the first semicolon: dimensions of the operator's tensor parameters, in the schema's order
// (a Tensor[] parameter has one for all of its tensors), and of its results. The last one stands
// for all further ones, too. `@NAME` stands for dimensions that structure.cpp finds.
//
//   n        a factor; `n.` a multiple of it; `n?` a dimension that may be missing
//   *        a dimension that is whole; `*...` any number of these
//   ...      any number of dimensions, aligned at the last one; operands may broadcast
//   ..       the same, but operands have equal sizes
//   ../dim   without the dimensions that attribute `dim` names, or with 1 in their place; also
//            .../dim
//   ..{dim:v}  with factor v where attribute `dim` names one
//   ^m n     operand that broadcasts to m n
//   -        a tensor that no factor divides; () one without dimensions
//
// Clauses:
//
//   k: sum            the kind of a factor (pass, whole, halo, merge, a reduction of a Partial,
//                     masked(INDICES) or masked(INDICES, ZEROED)); `...` means all of the ellipsis,
//                     `[dim]` the dimensions that attribute `dim` names (all, where it names none),
//                     `[-shape]` as many last ones as attribute `shape` has entries
//   linear a b        jointly linear in the operands a and b (the whole row may have several)
//   moves a b         each element of a result is one of an operand: any Partial passes
//   up a, down a      monotone: Partial(max) and (min) pass, or change places
//   max a b, min a b  Partial(max) or (min) passes
//   once a            counts once in a sum over ranks
//   size p=r0         attribute p is the shape of result 0; `p=self.1` one size; `p=g` a factor's
//   let g=p           attribute p is the size of factor g
//   global            values depend on an element's index in the whole result
//   if p=1, if p!=1   holds for these calls; after a kind or group: that alone. `p` and `!p` are
//                     true and false; `rank self=1` compares a rank
//
// `|` separates rows for different calls: the first one that fits is taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/placement.h"
#include "engine/mesh/rules/sharding_rule.h"

namespace recut::mesh {

struct DimensionText {
  enum class Kind : std::uint8_t { factor, whole, rest, ellipsis };
  Kind kind = Kind::factor;
  std::string name;  // of a factor, also of one that stands in an ellipsis
  bool multiple = false, optional = false;
  bool strict = false;            // of an ellipsis
  std::string without, replaced;  // attributes of an ellipsis
};

struct TensorText {
  bool mapped = true;
  bool broadcasts = false;
  std::vector<DimensionText> dims;
};

struct ConditionText {
  bool negated = false, rank = false;
  std::string parameter, value;
};

struct FactorText {
  enum class Target : std::uint8_t { name, ellipsis, named_by, last_of };
  Target target = Target::name;
  std::string name;  // of a factor or an attribute
  FactorKind kind = FactorKind::pass;
  Reduction reduction = Reduction::sum;
  std::string indices, zeroed;
  std::optional<ConditionText> condition;
};

struct GroupText {
  std::string kind;
  std::vector<std::string> parameters;
  std::optional<ConditionText> condition;
};

struct SizeText {
  std::string parameter, source;
};

struct RuleText {
  std::string structure;
  std::vector<TensorText> operands, results;
  std::vector<ConditionText> conditions;
  std::vector<FactorText> kinds;
  std::vector<GroupText> groups;
  std::vector<std::string> once;
  std::vector<SizeText> sizes, lets;
  bool global = false;
};

// A malformed row is a bug of the table and fails a check.
std::vector<RuleText> parse_rule(std::string_view text);

// The row of an operator, or the one that follows from its flags; empty where there is neither.
const std::vector<RuleText>& rule_texts(const Operator& op);

}  // namespace recut::mesh

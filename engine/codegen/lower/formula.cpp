#include "engine/codegen/lower/formula.h"

#include "engine/codegen/loop/scalar_semantics.h"
#include "engine/ir/operator_map.h"
#include "engine/ir/promotion.h"
#include "engine/support/check.h"

namespace recut::loop {
namespace {

// A number after a round trip through that dtype.
double as_stored(DType dtype, double number) { return round_trip(dtype, {number, 0}).real; }

}  // namespace

const FormulaEntry& formula_entry(Op op) {
  static const OperatorMap<FormulaEntry> table = [] {
    FormulaTable rows;
    add_all_formulas(rows);
    OperatorMap<FormulaEntry> by_op;
    for (const FormulaEntry& row : rows) {
      RECUT_CHECK(by_op[row.op].formula == nullptr, "an operator has two formulas");
      by_op.set(row.op, row);
    }
    return by_op;
  }();
  return table[op];
}

ScalarExpr Lowering::computed_element(const ValueRef& ref, const Indices& at) {
  const auto bound = bound_.find(ref);
  if (bound != bound_.end() && builder_.visible(bound->second)) return {&builder_, bound->second};
  const std::tuple key(ref, at);
  const auto known = known_.find(key);
  if (known != known_.end() && builder_.visible(known->second)) return {&builder_, known->second};
  const Formula formula = formula_entry(graph_[ref.node].op).formula;
  RECUT_CHECK(formula != nullptr, "lower() has looked at what the kernel's calls read");
  const LocationScope scope(*this, ref.node);
  const Call call = call_of(ref.node);
  const ScalarExpr value =
      rounded(formula(ElementContext(*this, call, ref, at)), real_of(type(ref).dtype));
  const ValueId id = value.id();
  builder_.name(id, graph_.node_name(ref.node));
  known_[key] = id;
  return {&builder_, id};
}

DType ElementContext::common() const { return result_dtype(call); }
DType ElementContext::real_common() const { return float_of(result_dtype(call)); }

ScalarExpr ElementContext::raw(std::string_view parameter) const {
  const std::size_t rank = call.tensor(parameter).shape.size();
  const Shape& shape = call.tensor(parameter).shape;
  Indices position(rank, 0);
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] != 1) position[d] = at[at.size() - rank + d];
  return raw(parameter, position);
}

ScalarExpr ElementContext::raw(std::string_view parameter, const Indices& position) const {
  return lowering.element(call.node(parameter), position);
}

ScalarExpr ElementContext::operand(std::string_view parameter, DType common,
                                   ScalarPromotion promotion) const {
  if (call.is_tensor(parameter))
    return lowering.cast(raw(parameter), call.tensor(parameter).dtype, common);
  const Scalar scalar = call.scalar(parameter);
  const DType computing = lowering.compute_type(common);
  if (!is_floating(common))
    return lowering.cast(ScalarExpr::constant(&lowering.builder(), DType::i64, scalar.integer),
                         DType::i64, common);
  const bool half = item_bytes(common) == 2;
  const DType own = half && promotion == ScalarPromotion::arithmetic ? DType::f32 : common;
  return lowering.constant(computing, as_stored(own, scalar.real));
}

ScalarExpr ElementContext::operand(std::size_t parameter, DType common,
                                   ScalarPromotion promotion) const {
  return operand(call.op().parameters[parameter].name, common, promotion);
}

double ElementContext::scalar_value(std::string_view parameter, DType common) const {
  const bool half = is_floating(common) && item_bytes(common) == 2;
  if (!is_floating(common)) return call.scalar(parameter).real;
  return as_stored(half ? DType::f32 : common, call.scalar(parameter).real);
}

}  // namespace recut::loop

#include "engine/codegen/lower/formula.h"

#include "engine/codegen/loop/scalar_meaning.h"
#include "engine/ir/operator_map.h"
#include "engine/ir/promotion.h"
#include "engine/support/check.h"

namespace recut::loop {
namespace {

// A number after a round trip through that dtype.
double as_stored(DType dtype, double number) { return through(dtype, {number, 0}).real; }

}  // namespace

const FormulaRow& formula_row(Op op) {
  static const OperatorMap<FormulaRow> table = [] {
    FormulaTable rows;
    add_all_formulas(rows);
    OperatorMap<FormulaRow> by_op;
    for (const FormulaRow& row : rows) {
      RECUT_CHECK(by_op[row.op].formula == nullptr, "an operator has two formulas");
      by_op.set(row.op, row);
    }
    return by_op;
  }();
  return table[op];
}

Quantity Lowering::made_element(const Made& made, const Indices& at) {
  const auto settled = settled_.find(made);
  if (settled != settled_.end() && builder_.visible(settled->second))
    return {&builder_, settled->second};
  const std::tuple key(made, at);
  const auto known = known_.find(key);
  if (known != known_.end() && builder_.visible(known->second)) return {&builder_, known->second};
  const Formula formula = formula_row(graph_[made.node].op).formula;
  RECUT_CHECK(formula != nullptr, "lower() has looked at what the kernel's calls read");
  const About about(*this, made.node);
  const Call call = call_of(made.node);
  const Quantity value = rounded(formula(Site(*this, call, made, at)), type(made).dtype);
  const ValueId id = value.id();
  builder_.name(id, graph_.node_name(made.node));
  known_[key] = id;
  return {&builder_, id};
}

DType Site::common() const { return result_dtype(call); }
DType Site::real_common() const { return float_of(result_dtype(call)); }

Quantity Site::raw(std::string_view parameter) const {
  const std::size_t rank = call.tensor(parameter).shape.size();
  const Shape& shape = call.tensor(parameter).shape;
  Indices place(rank, 0);
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] != 1) place[d] = at[at.size() - rank + d];
  return raw(parameter, place);
}

Quantity Site::raw(std::string_view parameter, const Indices& place) const {
  return lowering.element(call.node(parameter), place);
}

Quantity Site::operand(std::string_view parameter, DType common, Numbers numbers) const {
  if (call.is_tensor(parameter))
    return lowering.cast(raw(parameter), call.tensor(parameter).dtype, common);
  const Scalar scalar = call.scalar(parameter);
  const DType computing = lowering.compute_type(common);
  if (!is_floating(common))
    return lowering.cast(Quantity::constant(&lowering.builder(), DType::i64, scalar.integer),
                         DType::i64, common);
  const bool half = item_bytes(common) == 2;
  const DType own = half && numbers == Numbers::arithmetic ? DType::f32 : common;
  return lowering.constant(computing, as_stored(own, scalar.real));
}

Quantity Site::operand(std::size_t parameter, DType common, Numbers numbers) const {
  return operand(call.op().parameters[parameter].name, common, numbers);
}

double Site::given(std::string_view parameter, DType common) const {
  const bool half = is_floating(common) && item_bytes(common) == 2;
  if (!is_floating(common)) return call.scalar(parameter).real;
  return as_stored(half ? DType::f32 : common, call.scalar(parameter).real);
}

}  // namespace recut::loop

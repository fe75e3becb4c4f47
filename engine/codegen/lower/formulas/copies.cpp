// Conversions and copies, and what views show copied.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

// The element of the tensor or number `parameter`; storing it casts. Integers stay integers, so
// that all 64 bits arrive.
Quantity copied(const Site& s, std::string_view parameter) {
  if (s.call.is_tensor(parameter)) return s.raw(parameter);
  const Scalar scalar = s.call.scalar(parameter);
  Builder* builder = &s.lowering.builder();
  if (scalar.category == DType::f64) return Quantity::constant(builder, DType::f64, scalar.real);
  return Quantity::constant(builder, DType::i64, scalar.integer);
}

Quantity copy_first(const Site& s) { return copied(s, s.call.op().parameters[0].name); }
Quantity copy_src(const Site& s) { return copied(s, "src"); }
Quantity fill(const Site& s) { return copied(s, "value"); }
Quantity zero(const Site& s) { return s.lowering.constant(value_type(s.dtype()), 0); }

// What a view of the first operand shows at this place.
Quantity shown(const Site& s) {
  const auto address = viewed(s.lowering.graph(), s.made.node, s.made.output);
  RECUT_CHECK(address.ok(), "lower() has looked at every view");
  return s.lowering.element(*address, s.at);
}

}  // namespace

void add_copy_formulas(FormulaTable& table) {
  for (const Op op :
       {Op::clone, Op::_to_copy, Op::prims_convert_element_type, Op::prims_device_put,
        Op::lift_fresh_copy, Op::_to_sparse, Op::_to_sparse_sparse_dim, Op::_to_dense})
    table.push_back({op, copy_first});
  table.push_back({Op::copy, copy_src});
  for (const Op op : {Op::fill_Scalar, Op::fill_Tensor}) table.push_back({op, fill});
  table.push_back({Op::zero, zero});
  for (const Operator& op : all_operators())
    if (layout_rule(op.op) != nullptr && !op.is(kView)) table.push_back({op.op, shown});
}

}  // namespace recut::loop

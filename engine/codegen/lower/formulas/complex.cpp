// Complex numbers in memory: pairs of parts. Kernels read and write the parts; the pass
// complex_parts leaves no other operator on complex numbers.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// A part of the numbers of a buffer is an element of it.
ScalarExpr part_of_number(const ElementContext& ctx) {
  const NodeId self = ctx.call.node("self");
  ViewMap parts = ctx.lowering.view_map(self);
  for (Layout& layout : parts.layouts) layout = in_parts(layout, ctx.call.tensor(self).dtype);
  return ctx.lowering.element(parts, ctx.at);
}

// The last index counts parts.
ScalarExpr number_of_parts(const ElementContext& ctx) {
  Indices number = ctx.at;
  number.pop_back();
  const auto read = [&](std::string_view parameter) {
    return ctx.raw(parameter, broadcast_index(number, ctx.call.tensor(parameter).shape));
  };
  const Index& which = ctx.at.back();
  if (which.is_constant()) return read(which.constant == 0 ? "real" : "imag");
  return select(ctx.lowering.number(which) == 0.0, read("real"), read("imag"));
}

}  // namespace

void add_complex_formulas(FormulaTable& table) {
  for (const Op op : {Op::view_as_real, Op::view_as_real_copy})
    table.push_back({op, part_of_number, nullptr, FormulaDTypes::complex});
  table.push_back({Op::complex, number_of_parts, nullptr, FormulaDTypes::complex});
}

}  // namespace recut::loop

#include "engine/codegen/lower/nest.h"

#include "engine/ir/operator_map.h"
#include "engine/support/check.h"

namespace recut::loop {

const NestEntry& nest_entry(Op op) {
  static const OperatorMap<NestEntry> table = [] {
    NestTable rows;
    add_all_nests(rows);
    OperatorMap<NestEntry> by_op;
    for (const NestEntry& row : rows) {
      RECUT_CHECK(!by_op[row.op].exists(), "an operator has two nests");
      by_op.set(row.op, row);
    }
    return by_op;
  }();
  return table[op];
}

Index Nest::checked_index(Lowering& lowering, const ScalarExpr& raw, std::int64_t size,
                          bool from_end) {
  ScalarExpr index = raw.to(DType::i64);
  if (from_end) {
    const ScalarExpr end = ScalarExpr::constant(index.builder(), DType::i64, size);
    index = select(index < 0.0, index + end, index);
  }
  return lowering.builder().check(index.id(), size);
}

Indices broadcast_index(const Indices& at, const Shape& shape) {
  Indices position(at.end() - static_cast<std::ptrdiff_t>(shape.size()), at.end());
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) position[d] = 0;
  return position;
}

Indices reduced_index(const Indices& at, const std::vector<bool>& reduced, std::size_t rank) {
  Indices position;
  for (std::size_t d = 0; d < at.size(); ++d)
    if (!reduced[d] || rank == at.size()) position.push_back(reduced[d] ? Index(0) : at[d]);
  return position;
}

void write_zeros(const Nest& nest) {
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at,
                        nest.lowering.constant(value_type(nest.type().dtype), 0));
  });
}

}  // namespace recut::loop

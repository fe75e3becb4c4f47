#include "engine/autodiff/row.h"

#include "engine/ir/operator_map.h"

namespace recut::autodiff {
namespace {

struct RowTable {
  Rows rows;
  OperatorMap<int> row_of{-1};  // none

  RowTable() {
    for (Rows& family : all_rows())
      for (Row& row : family) add(std::move(row));
  }

  void add(Row row) {
    for (const Op op : row.ops) {
      RECUT_CHECK(row_of[op] < 0, "an operator has two derivative rows");
      row_of.set(op, static_cast<int>(rows.size()));
      for (const Partial& p : row.partials)
        RECUT_CHECK(row.ops.size() > 1 || operator_of(op).parameter(p.parameter),
                    "a derivative row names a parameter that its operator lacks");
    }
    rows.push_back(std::move(row));
  }
};

Row made(std::vector<Op> ops, RowKind kind) {
  Row row;
  row.ops = std::move(ops);
  row.kind = kind;
  return row;
}

Row with_partials(std::vector<Op> ops, RowKind kind, std::vector<Partial> partials) {
  Row row = made(std::move(ops), kind);
  row.partials = std::move(partials);
  return row;
}

}  // namespace

const Partial* Row::partial(std::string_view parameter) const {
  for (const Partial& p : partials)
    if (p.parameter == parameter) return &p;
  return nullptr;
}

const Row* find_row(Op op) {
  static const RowTable table;
  const int place = table.row_of[op];
  return place < 0 ? nullptr : &table.rows[static_cast<std::size_t>(place)];
}

Row formulas(std::vector<Op> ops, std::vector<Partial> partials, int outputs) {
  Row row = with_partials(std::move(ops), RowKind::formulas, std::move(partials));
  row.outputs = outputs;
  return row;
}

Row formulas_and_forward(std::vector<Op> ops, std::vector<Partial> partials, Expansion forward,
                         int outputs) {
  Row row = formulas(std::move(ops), std::move(partials), outputs);
  row.expansion = forward;
  return row;
}

Row elementwise(std::vector<Op> ops, std::vector<Partial> partials) {
  return with_partials(std::move(ops), RowKind::elementwise, std::move(partials));
}

Row linear(std::vector<Op> ops, std::vector<Partial> partials) {
  return with_partials(std::move(ops), RowKind::linear, std::move(partials));
}

Row expands(std::vector<Op> ops, Expansion expansion, int outputs) {
  Row row = made(std::move(ops), RowKind::expansion);
  row.expansion = expansion;
  row.outputs = outputs;
  return row;
}

Row constant(std::vector<Op> ops, std::string_view reason) {
  Row row = made(std::move(ops), RowKind::constant);
  row.reason = reason;
  return row;
}

}  // namespace recut::autodiff

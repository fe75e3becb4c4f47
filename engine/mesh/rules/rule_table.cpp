// The table of rules by operator: rows of the .def files, and rows that follow from flags.
#include <string>

#include "engine/ir/layout.h"
#include "engine/ir/operator_map.h"
#include "engine/mesh/rules/rule_text.h"

namespace recut::mesh {
namespace {

struct RuleRow {
  Op op;
  const char* text;
};

const RuleRow kRows[] = {
#define RECUT_SHARDING_RULE(identifier, text) {Op::identifier, text},
#include "engine/mesh/rules/creation.def"
#include "engine/mesh/rules/indexing.def"
#include "engine/mesh/rules/matrix.def"
#include "engine/mesh/rules/movement.def"
#include "engine/mesh/rules/nn.def"
#include "engine/mesh/rules/pointwise.def"
#include "engine/mesh/rules/reduction.def"
#undef RECUT_SHARDING_RULE
};

// Empty where the flags tell nothing: then every dimension is whole.
std::string text_by_flags(const Operator& op) {
  if (op.is(kDataDependent | kInput | kCollective | kWait | kReadsStorage | kRandom)) return "";
  if (layout::rule_of(op.op) != nullptr) return "@view";
  if (op.is(kPointwise)) return "... -> ...";
  if (op.is(kRowReduction) || (op.is(kReduction) && op.is(kSort)))
    return "... -> .../dim; [dim]: whole";
  if (op.is(kScan | kSort)) return "... -> ...; [dim]: whole";
  return "";
}

OperatorMap<std::vector<RuleText>> make_table() {
  OperatorMap<std::vector<RuleText>> table;
  for (const Operator& op : all_operators())
    if (const std::string text = text_by_flags(op); !text.empty())
      table.set(op.op, parse_rule(text));
  for (const RuleRow& row : kRows) table.set(row.op, parse_rule(row.text));
  return table;
}

}  // namespace

const std::vector<RuleText>& rule_texts(const Operator& op) {
  static const OperatorMap<std::vector<RuleText>> table = make_table();
  return table[op.op];
}

}  // namespace recut::mesh

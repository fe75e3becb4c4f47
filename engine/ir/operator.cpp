#include "engine/ir/operator.h"

#include <deque>
#include <unordered_map>

#include "engine/ir/schema.h"
#include "engine/ir/shape_rules/rules.h"

namespace recut {
namespace {

struct OperatorRow {
  Op op;
  const char* schema;
  OperatorFlags flags;
  ShapeRule rule;
  const char* summary;
};

constexpr OperatorRow kOperatorRows[] = {
#define RECUT_OPERATOR(identifier, schema, flags, rule, summary) \
  {Op::identifier, schema, flags, &rules::rule, summary},
#include "engine/ir/operators/all.def"
#undef RECUT_OPERATOR
};

struct OperatorTable {
  std::vector<Operator> operators;
  std::deque<std::string> names;  // storage behind the operators' string views
  std::unordered_map<std::string_view, const Operator*> by_target;
  std::unordered_map<std::string_view, const Operator*> by_name;

  OperatorTable() {
    operators.reserve(std::size(kOperatorRows));
    for (const OperatorRow& row : kOperatorRows) add(row);
    for (const Operator& op : operators) {
      by_target.emplace(op.target, &op);
      const bool unique = by_name.emplace(op.name, &op).second;
      RECUT_CHECK(unique, "two rows of the operator table have one name");
    }
  }

 private:
  std::string_view keep(std::string text) { return names.emplace_back(std::move(text)); }

  void add(const OperatorRow& row) {
    Schema schema = parse_schema(row.schema);
    Operator op;
    op.op = row.op;
    op.flags = row.flags;
    op.rule = row.rule;
    op.summary = row.summary;
    op.parameters = std::move(schema.parameters);
    op.outputs = schema.outputs;
    op.returns_list = schema.returns_list;
    const std::string shown_space =
        schema.name_space == "aten" || schema.name_space.empty() ? "" : schema.name_space + ".";
    op.packet = keep(shown_space + schema.name);
    op.name =
        keep(shown_space + schema.name + (schema.overload.empty() ? "" : "." + schema.overload));
    op.target = schema.name_space.empty()
                    ? op.name
                    : keep(schema.name_space + "." + schema.name + "." +
                           (schema.overload.empty() ? "default" : schema.overload));
    operators.push_back(std::move(op));
  }
};

const OperatorTable& table() {
  static const OperatorTable instance;
  return instance;
}

const Operator* look_up(const std::unordered_map<std::string_view, const Operator*>& map,
                        std::string_view key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : it->second;
}

}  // namespace

std::optional<std::size_t> Operator::parameter(std::string_view parameter_name) const {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter_name) return i;
  return std::nullopt;
}

const Operator& operator_of(Op op) {
  const std::size_t row = static_cast<std::size_t>(op), rows = std::size(kOperatorRows);
  return row < rows ? table().operators[row] : external_row(row - rows);
}

bool is_external(Op op) { return static_cast<std::size_t>(op) >= std::size(kOperatorRows); }

std::span<const Operator> all_operators() { return table().operators; }

const Operator* find_operator_by_target(std::string_view target) {
  return look_up(table().by_target, target);
}

const Operator* find_operator_by_name(std::string_view name) {
  return look_up(table().by_name, name);
}

}  // namespace recut

#include "engine/autodiff/derivative_rule.h"

#include "engine/ir/operator_map.h"

namespace recut::autodiff {
namespace {

struct DerivativeTable {
  DerivativeRules rules;
  OperatorMap<int> rule_of{-1};  // none

  DerivativeTable() {
    for (DerivativeRules& family : all_derivative_rules())
      for (DerivativeRule& rule : family) add(std::move(rule));
  }

  void add(DerivativeRule rule) {
    for (const Op op : rule.ops) {
      RECUT_CHECK(rule_of[op] < 0, "an operator has two derivative rules");
      rule_of.set(op, static_cast<int>(rules.size()));
      for (const Partial& p : rule.partials)
        RECUT_CHECK(rule.ops.size() > 1 || operator_of(op).parameter(p.parameter),
                    "a derivative rule names a parameter that its operator lacks");
    }
    rules.push_back(std::move(rule));
  }
};

DerivativeRule make_rule(std::vector<Op> ops, DerivativeKind kind) {
  DerivativeRule rule;
  rule.ops = std::move(ops);
  rule.kind = kind;
  return rule;
}

DerivativeRule with_partials(std::vector<Op> ops, DerivativeKind kind,
                             std::vector<Partial> partials) {
  DerivativeRule rule = make_rule(std::move(ops), kind);
  rule.partials = std::move(partials);
  return rule;
}

}  // namespace

const Partial* DerivativeRule::partial(std::string_view parameter) const {
  for (const Partial& p : partials)
    if (p.parameter == parameter) return &p;
  return nullptr;
}

const DerivativeRule* find_derivative_rule(Op op) {
  static const DerivativeTable table;
  const int index = table.rule_of[op];
  return index < 0 ? nullptr : &table.rules[static_cast<std::size_t>(index)];
}

DerivativeRule vjp(std::vector<Op> ops, std::vector<Partial> partials, int outputs) {
  DerivativeRule rule = with_partials(std::move(ops), DerivativeKind::vjp, std::move(partials));
  rule.outputs = outputs;
  return rule;
}

DerivativeRule vjp_and_decomposition(std::vector<Op> ops, std::vector<Partial> partials,
                                     DecompositionFormula forward, int outputs) {
  DerivativeRule rule = vjp(std::move(ops), std::move(partials), outputs);
  rule.decomposition = forward;
  return rule;
}

DerivativeRule elementwise(std::vector<Op> ops, std::vector<Partial> partials) {
  return with_partials(std::move(ops), DerivativeKind::elementwise, std::move(partials));
}

DerivativeRule linear(std::vector<Op> ops, std::vector<Partial> partials) {
  return with_partials(std::move(ops), DerivativeKind::linear, std::move(partials));
}

DerivativeRule decomposes(std::vector<Op> ops, DecompositionFormula decomposition, int outputs) {
  DerivativeRule rule = make_rule(std::move(ops), DerivativeKind::decomposition);
  rule.decomposition = decomposition;
  rule.outputs = outputs;
  return rule;
}

DerivativeRule constant(std::vector<Op> ops, std::string_view reason) {
  DerivativeRule rule = make_rule(std::move(ops), DerivativeKind::constant);
  rule.reason = reason;
  return rule;
}

}  // namespace recut::autodiff

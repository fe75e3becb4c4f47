// Expands the @optional calls of a rule: n of them give up to 2^n rules, in each of which some
// calls are replaced by their first operand. A rule for each form keeps the matcher free of
// optional nodes.
//   %s = mul(%x, ?k) @optional(?k = 1.0)   =>   a rule with the mul, and one with %x for %s and
//                                               `let ?k = 1.0`
// Each variant gets a match plan: it starts at the result that reaches most of the pattern through
// operands, which are unique, and goes through users, of which there may be many, only for the
// rest.
#include "engine/rewrite/rule_variants.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut {
namespace {

constexpr std::size_t kGone = static_cast<std::size_t>(-1);

template <class Visit>
void for_each_value(PatternArgument& argument, Visit&& visit) {
  if (argument.kind == PatternArgument::Kind::value) visit(argument.index);
  for (PatternArgument& item : argument.items) for_each_value(item, visit);
}

template <class Visit>
void for_each_value(const PatternArgument& argument, Visit&& visit) {
  if (argument.kind == PatternArgument::Kind::value) visit(argument.index);
  for (const PatternArgument& item : argument.items) for_each_value(item, visit);
}

// The value that replaces a missing call: its first operand.
std::size_t first_value(const PatternNode& node) {
  std::size_t first = kGone;
  for (const PatternArgument& argument : node.arguments)
    for_each_value(argument, [&](std::size_t index) { first = first == kGone ? index : first; });
  return first;
}

// Renumbers the expressions of one variant. Missing values read as none.
void renumber(Expression& e, const std::vector<std::size_t>& index) {
  if (e.kind == Expression::Kind::value) {
    if (index[e.index] == kGone) {
      e.kind = Expression::Kind::literal;
      e.literal = None{};
    } else {
      e.index = index[e.index];
    }
  }
  for (Expression& item : e.items) renumber(item, index);
}

class Variant {
 public:
  Variant(const Rule& rule, const std::vector<OptionalNode>& optional, std::size_t choice)
      : rule_(rule) {
    stands_for_.resize(rule.pattern.size());
    for (std::size_t i = 0; i < stands_for_.size(); ++i) stands_for_[i] = i;
    for (std::size_t i = 0; i < optional.size(); ++i)
      if ((choice >> i & 1) != 0) leave_out(optional[i]);
  }

  Rule take() {
    drop_unreached();
    renumber_all();
    return std::move(rule_);
  }

 private:
  // Operands precede their users, so that chains of missing calls resolve in order.
  void leave_out(const OptionalNode& optional) {
    stands_for_[optional.node] = stands_for_[first_value(rule_.pattern[optional.node])];
    for (std::size_t later = optional.node + 1; later < stands_for_.size(); ++later)
      if (stands_for_[later] == optional.node) stands_for_[later] = stands_for_[optional.node];
    for (const auto& [variable, value] : optional.variables) {
      Condition let{variable, {}};
      let.expression.literal = value;
      rule_.conditions.insert(rule_.conditions.begin(), std::move(let));
    }
  }

  void drop_unreached() {
    for (PatternNode& node : rule_.pattern)
      for (PatternArgument& argument : node.arguments)
        for_each_value(argument, [&](std::size_t& index) { index = stands_for_[index]; });
    for (std::size_t& result : rule_.results) result = stands_for_[result];
    std::vector<bool> reached(rule_.pattern.size());
    for (const std::size_t result : rule_.results) reached[result] = true;
    for (std::size_t i = reached.size(); i-- > 0;)
      if (reached[i])
        for (const PatternArgument& argument : rule_.pattern[i].arguments)
          for_each_value(argument, [&](std::size_t index) { reached[index] = true; });
    std::vector<PatternNode> remaining;
    index_.assign(reached.size() + rule_.replacement.size(), kGone);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i]) continue;
      index_[i] = remaining.size();
      remaining.push_back(std::move(rule_.pattern[i]));
    }
    for (std::size_t i = 0; i < reached.size(); ++i) index_[i] = index_[stands_for_[i]];
    for (std::size_t i = 0; i < rule_.replacement.size(); ++i)
      index_[reached.size() + i] = remaining.size() + i;
    rule_.pattern = std::move(remaining);
  }

  void renumber_all() {
    for (PatternNode& node : rule_.pattern)
      for (PatternArgument& argument : node.arguments)
        for_each_value(argument, [&](std::size_t& index) { index = index_[index]; });
    for (std::size_t& result : rule_.results) result = index_[result];
    for (Condition& condition : rule_.conditions) renumber(condition.expression, index_);
    for (ReplacementNode& node : rule_.replacement)
      for (Expression& argument : node.arguments) renumber(argument, index_);
    for (std::size_t& result : rule_.replacement_results) result = index_[result];
    for (RuleSample& sample : rule_.samples) {
      auto& types = sample.types;
      for (auto& [node, type] : types) node = index_[node];
      types.erase(std::remove_if(types.begin(), types.end(),
                                 [](const auto& entry) { return entry.first == kGone; }),
                  types.end());
    }
  }

  Rule rule_;
  std::vector<std::size_t> stands_for_;  // by node as written: its node in this variant
  std::vector<std::size_t> index_;       // by value as written: its index in this variant
};

// Marks a node and everything that it depends on.
void reach(const Rule& rule, std::size_t node, std::vector<bool>& reached) {
  if (reached[node]) return;
  reached[node] = true;
  for (const PatternArgument& argument : rule.pattern[node].arguments)
    for_each_value(argument, [&](std::size_t index) { reach(rule, index, reached); });
}

std::size_t reach_of(const Rule& rule, std::size_t node) {
  std::vector<bool> reached(rule.pattern.size());
  reach(rule, node, reached);
  return static_cast<std::size_t>(std::count(reached.begin(), reached.end(), true));
}

// An unreached call and an operand of it that has been reached.
std::optional<MatchPlan::Step> next_step(const Rule& rule, const std::vector<bool>& reached) {
  for (std::size_t node = 0; node < reached.size(); ++node) {
    if (reached[node]) continue;
    std::optional<MatchPlan::Step> step;
    for (const PatternArgument& argument : rule.pattern[node].arguments)
      for_each_value(argument, [&](std::size_t index) {
        // A call has fewer users to try than a wildcard.
        if (!reached[index]) return;
        const bool call = rule.pattern[index].kind == PatternNode::Kind::call;
        if (!step || call) step = MatchPlan::Step{node, index};
      });
    if (step) return step;
  }
  return std::nullopt;
}

// The plan starts at the result that reaches most of the pattern, so that few users are tried.
Result<MatchPlan> plan_of(const Rule& rule) {
  MatchPlan plan;
  std::size_t max_count = 0;
  for (const std::size_t result : rule.results) {
    if (rule.pattern[result].kind != PatternNode::Kind::call) continue;
    const std::size_t count = reach_of(rule, result);
    if (count > max_count) plan.anchor = result;
    max_count = std::max(max_count, count);
  }
  if (max_count == 0) return error("a pattern needs a result that is a call");
  std::vector<bool> reached(rule.pattern.size());
  reach(rule, plan.anchor, reached);
  while (const auto step = next_step(rule, reached)) {
    plan.steps.push_back(*step);
    reach(rule, step->node, reached);
  }
  for (std::size_t node = 0; node < reached.size(); ++node)
    if (!reached[node])
      return error(fmt::format("%{} has no value in common with the pattern's other results",
                               rule.pattern[node].name));
  return plan;
}

bool share_a_variable(const OptionalNode& a, const OptionalNode& b) {
  return std::any_of(a.variables.begin(), a.variables.end(), [&](const auto& x) {
    return std::any_of(b.variables.begin(), b.variables.end(),
                       [&](const auto& y) { return x.first == y.first; });
  });
}

// Optional calls that share a variable are present or missing together.
bool agrees(const std::vector<OptionalNode>& optional, std::size_t choice) {
  for (std::size_t i = 0; i < optional.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if ((choice >> i & 1) != (choice >> j & 1) && share_a_variable(optional[i], optional[j]))
        return false;
  return true;
}

}  // namespace

Result<std::vector<Rule>> rule_variants(const Rule& rule,
                                        const std::vector<OptionalNode>& optional) {
  std::vector<Rule> variants;
  for (std::size_t choice = 0; choice < std::size_t{1} << optional.size(); ++choice) {
    if (!agrees(optional, choice)) continue;
    Rule variant = Variant(rule, optional, choice).take();
    auto plan = plan_of(variant);
    if (!plan) return plan.diagnostics();
    variant.plan = std::move(*plan);
    for (const std::size_t result : variant.replacement_results)
      if (result == kGone)
        return error("without its @optional nodes, the replacement has a result without a value");
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace recut

#include "engine/passes/rule_pass.h"

#include <map>

#include "engine/rewrite/rule_text.h"

namespace recut {
namespace {

using Parsed = std::map<std::string_view, std::shared_ptr<const RuleSet>>;

Parsed parse_all() {
  Parsed parsed;
  for (const BuiltinRules& file : builtin_rule_files()) {
    auto rules = parse_rules(file.text, std::string(file.name) + ".rules");
    RECUT_CHECK(rules.ok(), "a rule file that Recut brings along does not parse");
    parsed.emplace(file.name, std::make_shared<const RuleSet>(std::move(*rules)));
  }
  return parsed;
}

}  // namespace

std::shared_ptr<const RuleSet> builtin_rules(std::string_view name) {
  static const Parsed parsed = parse_all();
  const auto it = parsed.find(name);
  RECUT_CHECK(it != parsed.end(), "a pass asks for a rule file that is not there");
  return it->second;
}

PassResult run_rules(const Graph& graph, std::shared_ptr<const RuleSet> rules) {
  Rewritten rewritten = apply_rules(graph, *rules);
  PassResult result{std::move(rewritten.graph), rewritten.changed, {}};
  for (RuleHit& hit : rewritten.hits)
    result.changes.push_back({hit.rule, hit.before, std::move(hit.after), std::move(hit.words)});
  result.rules = {std::move(rules), std::move(rewritten.statistics), rewritten.at_rest};
  return result;
}

Pass rules_pass(std::shared_ptr<const RuleSet> rules) {
  return {kRulesPass, "Your own rules.",
          [rules](const Graph& graph) { return run_rules(graph, rules); }, false};
}

}  // namespace recut

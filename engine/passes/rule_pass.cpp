#include "engine/passes/rule_pass.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "engine/rewrite/rule_text.h"

namespace recut {
namespace {

std::shared_ptr<const RuleSet> parsed(const BuiltinRules& file) {
  auto rules = parse_rules(file.text, std::string(file.name) + ".rules");
  RECUT_CHECK(rules.ok(), "a rule file that Recut brings along does not parse");
  return std::make_shared<const RuleSet>(std::move(*rules));
}

}  // namespace

std::shared_ptr<const RuleSet> builtin_rules(std::string_view name) {
  static std::mutex mutex;  // plans and documents are made on several threads
  static std::map<std::string_view, std::shared_ptr<const RuleSet>> read;
  const std::lock_guard<std::mutex> lock(mutex);
  auto& rules = read[name];
  if (rules != nullptr) return rules;
  const auto files = builtin_rule_files();
  const auto it = std::find_if(files.begin(), files.end(),
                               [&](const BuiltinRules& file) { return file.name == name; });
  RECUT_CHECK(it != files.end(), "a pass asks for a rule file that is not there");
  return rules = parsed(*it);
}

std::shared_ptr<const RuleSet> joined_rules(std::initializer_list<std::string_view> names) {
  RuleSet all;
  for (const std::string_view name : names) {
    const auto rules = builtin_rules(name);
    const std::size_t first = all.rows.size();
    all.rows.insert(all.rows.end(), rules->rows.begin(), rules->rows.end());
    for (Rule rule : rules->rules) {
      rule.row += first;
      all.add(std::move(rule));
    }
  }
  return std::make_shared<const RuleSet>(std::move(all));
}

PassResult run_rules(const Graph& graph, std::shared_ptr<const RuleSet> rules) {
  Rewritten rewritten = apply_rules(graph, *rules);
  PassResult result{std::move(rewritten.graph), rewritten.changed, {}};
  for (RuleHit& hit : rewritten.hits)
    result.changes.push_back(
        {hit.rule, hit.before, std::move(hit.after), std::move(hit.description)});
  result.rules = {std::move(rules), std::move(rewritten.statistics), rewritten.converged};
  return result;
}

void insert_rules_pass(std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), kRulesPass) != names.end()) return;
  const bool last = !names.empty() && names.back() == "dead_code";
  names.emplace(last ? names.end() - 1 : names.end(), kRulesPass);
}

Pass rules_pass(std::shared_ptr<const RuleSet> rules) {
  return {kRulesPass, "Your own rules.",
          [rules](const Graph& graph) { return run_rules(graph, rules); }, false};
}

}  // namespace recut

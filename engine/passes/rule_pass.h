// Passes made of rewrite rules: the built-in ones and the user's own.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/passes/pass.h"
#include "engine/rewrite/rule.h"

namespace recut {

// The rule files of engine/passes/rules, by name ("batch_of_one"), in alphabetical order.
struct BuiltinRules {
  std::string_view name;
  std::string_view text;
};
std::span<const BuiltinRules> builtin_rule_files();

// The rules of one file, parsed on first use. A built-in file that does not parse is a bug.
std::shared_ptr<const RuleSet> builtin_rules(std::string_view name);

// The rules of several files as one set, in that order.
std::shared_ptr<const RuleSet> joined_rules(std::initializer_list<std::string_view> names);

// Runs a pass that consists of rules alone.
PassResult run_rules(const Graph& graph, std::shared_ptr<const RuleSet> rules);

// The name of the pass of the user's rules.
inline constexpr std::string_view kRulesPass = "rules";
Pass rules_pass(std::shared_ptr<const RuleSet> rules);

// Appends the pass of the user's rules unless the list has it; before a final dead_code, which
// removes the nodes that the rules leave unused.
void insert_rules_pass(std::vector<std::string>& names);

}  // namespace recut

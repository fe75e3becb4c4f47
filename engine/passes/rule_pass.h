// Passes that are made of rules: those that come with Recut, and users' own.
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

// The rules of one of them, read when they are first asked for. A file that does not parse is a bug
// of ours.
std::shared_ptr<const RuleSet> builtin_rules(std::string_view name);

// The rules of several of them as one set, in that order.
std::shared_ptr<const RuleSet> joined_rules(std::initializer_list<std::string_view> names);

// A pass's work where it is rules and nothing else.
PassResult run_rules(const Graph& graph, std::shared_ptr<const RuleSet> rules);

// The name under which a user's rules are a pass.
inline constexpr std::string_view kRulesPass = "rules";
Pass rules_pass(std::shared_ptr<const RuleSet> rules);

// Where the list doesn't say where they run: last, but before a dead_code that ends it, so that
// what they leave unused goes with the rest.
void insert_rules_pass(std::vector<std::string>& names);

}  // namespace recut

#include "gui/app/recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/passes/rule_pass.h"
#include "engine/rewrite/rule_text.h"
#include "engine/support/utf8.h"
#include "engine/workspace/gradients.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void flip(std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end())
    names.erase(found);
  else
    names.emplace_back(name);
}

}  // namespace

bool is_rules_name(std::string_view path) {
  constexpr std::string_view ending = ".rules";
  return path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending;
}

bool Recipe::runs(std::string_view pass, const std::vector<std::string>& usual) const {
  if (pass == kGradPass) return differentiate;
  const bool by_itself = pass == kRulesPass ? rules.has_value() : has(usual, pass);
  return (by_itself || has(on, pass)) && !has(off, pass);
}

void Recipe::switch_pass(std::string_view pass, const std::vector<std::string>& usual) {
  if (pass == kGradPass)
    differentiate = !differentiate;
  else
    flip(pass == kRulesPass || has(usual, pass) ? off : on, pass);
}

Result<OpenOptions> options_of(const Recipe& recipe) {
  OpenOptions options;
  options.differentiate = recipe.differentiate;
  for (const std::string& name : recipe.on)
    if (find_pass(name) != nullptr) options.also.push_back(name);
  for (const std::string& name : recipe.off)
    if (find_pass(name) != nullptr || (name == kRulesPass && recipe.rules))
      options.runner.skip.push_back(name);
  if (!recipe.rules) return options;
  auto rules = parse_rules(recipe.rules->text, file_name(recipe.rules->path));
  if (!rules) return rules.diagnostics();
  options.rules = std::make_shared<const RuleSet>(std::move(*rules));
  return options;
}

Json json_of(const Recipe& recipe) {
  Json json = Json::object();
  if (recipe.differentiate) json["differentiate"] = true;
  if (!recipe.on.empty()) json["on"] = texts_in(recipe.on);
  if (!recipe.off.empty()) json["off"] = texts_in(recipe.off);
  if (recipe.rules)
    json["rules"] = {{"path", valid_utf8(recipe.rules->path)},
                     {"text", valid_utf8(recipe.rules->text)}};
  return json;
}

Recipe recipe_of(const Json& json) {
  Recipe recipe;
  if (!json.is_object()) return recipe;
  const auto differentiate = json.find("differentiate");
  recipe.differentiate =
      differentiate != json.end() && differentiate->is_boolean() && differentiate->get<bool>();
  recipe.on = texts_of(json, "on");
  recipe.off = texts_of(json, "off");
  const auto rules = json.find("rules");
  if (rules == json.end()) return recipe;
  recipe.rules = RuleFile{text_of(*rules, "path"), text_of(*rules, "text")};
  const bool good = !recipe.rules->path.empty() && recipe.rules->text.size() <= kMostRuleBytes;
  if (!good || !options_of(recipe)) recipe.rules.reset();
  return recipe;
}

}  // namespace recut::gui

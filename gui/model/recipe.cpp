#include "gui/model/recipe.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/rewrite/rule_text.h"
#include "engine/support/text.h"
#include "engine/support/utf8.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/training.h"
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

std::optional<OptimizerChoice> optimizer_of(const Json& json) {
  const auto found = json.find("optimizer");
  if (found == json.end() || !found->is_object()) return std::nullopt;
  const auto rate = found->find("learning_rate");
  if (rate == found->end() || !rate->is_number()) return std::nullopt;
  auto choice = optimizer_choice(text_of(*found, "name"), fmt::format("{}", rate->get<double>()));
  return choice ? std::optional(*choice) : std::nullopt;
}

Dimensions dimensions_of(const Json& json) {
  Dimensions dimensions;
  const auto found = json.find("dimensions");
  if (found == json.end() || !found->is_object()) return dimensions;
  for (const auto& [name, size] : found->items())
    if (size.is_number_integer() && size.get<std::int64_t>() >= 0)
      dimensions[name] = size.get<std::int64_t>();
  return dimensions;
}

}  // namespace

bool is_rules_name(std::string_view path) {
  constexpr std::string_view ending = ".rules";
  return path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending;
}

Result<OptimizerChoice> optimizer_choice(std::string_view name, std::string_view rate) {
  const auto optimizer = find_optimizer(name);
  if (!optimizer)
    return error(fmt::format("no optimiser {}, expected sgd, adam or adamw", quote(name)));
  OptimizerChoice choice;
  choice.name = name;
  if (rate.empty()) return choice;
  const std::string digits(rate);
  char* end = nullptr;
  choice.learning_rate = std::strtod(digits.c_str(), &end);
  const bool number = *end == '\0' && std::isfinite(choice.learning_rate);
  if (!number || choice.learning_rate <= 0 || choice.learning_rate > kMostLearningRate)
    return error(fmt::format("the learning rate is {}, expected a number above 0 and at most {}",
                             quote(rate), kMostLearningRate));
  return choice;
}

bool Recipe::runs(std::string_view pass, const std::vector<std::string>& usual) const {
  if (pass == kGradPass) return differentiate;
  if (pass == kOptimizerPass) return optimizer.has_value();
  const bool by_itself = pass == kRulesPass ? rules.has_value() : has(usual, pass);
  return (by_itself || has(on, pass)) && !has(off, pass);
}

void Recipe::switch_pass(std::string_view pass, const std::vector<std::string>& usual) {
  if (pass == kGradPass)
    differentiate = !differentiate;
  else if (pass == kOptimizerPass)
    optimizer = optimizer ? std::nullopt : std::optional(OptimizerChoice());
  else
    flip(pass == kRulesPass || has(usual, pass) ? off : on, pass);
}

Result<OpenOptions> options_of(const Recipe& recipe) {
  OpenOptions options;
  options.differentiate = recipe.differentiate;
  options.sizes = recipe.dimensions;
  if (recipe.optimizer) {
    Optimizer optimizer = find_optimizer(recipe.optimizer->name).value();
    set_learning_rate(optimizer, recipe.optimizer->learning_rate);
    options.training = TrainingOptions{optimizer, {}};
  }
  for (const std::string& name : recipe.on)
    if (find_pass(name) != nullptr) options.extra_passes.push_back(name);
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
  if (recipe.optimizer)
    json["optimizer"] = {{"name", recipe.optimizer->name},
                         {"learning_rate", recipe.optimizer->learning_rate}};
  if (!recipe.on.empty()) json["on"] = texts_in(recipe.on);
  if (!recipe.off.empty()) json["off"] = texts_in(recipe.off);
  if (recipe.rules)
    json["rules"] = {{"path", valid_utf8(recipe.rules->path)},
                     {"text", valid_utf8(recipe.rules->text)}};
  for (const auto& [name, size] : recipe.dimensions) json["dimensions"][valid_utf8(name)] = size;
  return json;
}

Recipe recipe_of(const Json& json) {
  Recipe recipe;
  if (!json.is_object()) return recipe;
  const auto differentiate = json.find("differentiate");
  recipe.differentiate =
      differentiate != json.end() && differentiate->is_boolean() && differentiate->get<bool>();
  recipe.optimizer = optimizer_of(json);
  recipe.on = texts_of(json, "on");
  recipe.off = texts_of(json, "off");
  recipe.dimensions = dimensions_of(json);
  const auto rules = json.find("rules");
  if (rules == json.end()) return recipe;
  recipe.rules = RuleFile{text_of(*rules, "path"), text_of(*rules, "text")};
  const bool good = !recipe.rules->path.empty() && recipe.rules->text.size() <= kMostRuleBytes;
  if (!good || !options_of(recipe)) recipe.rules.reset();
  return recipe;
}

}  // namespace recut::gui

// Transform settings as options for opening a document, and as JSON for links and saved documents.
// Only differences from the defaults are stored, `on` and `off`, so that a link stays short and a
// later default applies to it. Reading maps former pass names to current ones and drops parts that
// aren't valid: a damaged link still opens its graph.
#include "gui/model/transform_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/rewrite/rule_text.h"
#include "engine/support/text.h"
#include "engine/support/utf8.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/op_library.h"
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

bool flag_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::optional<OptimizerSettings> optimizer_of(const Json& json) {
  const auto found = json.find("optimizer");
  if (found == json.end() || !found->is_object()) return std::nullopt;
  const auto rate = found->find("learning_rate");
  if (rate == found->end() || !rate->is_number()) return std::nullopt;
  auto choice = read_optimizer(text_of(*found, "name"), fmt::format("{}", rate->get<double>()));
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

std::optional<MeshSettings> mesh_of(const Json& json) {
  const std::string text = text_of(json, "mesh");
  if (text.empty()) return std::nullopt;
  auto mesh = read_mesh(text);
  return mesh ? std::optional(std::move(*mesh)) : std::nullopt;
}

}  // namespace

bool is_rules_name(std::string_view path) {
  constexpr std::string_view ending = ".rules";
  return path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending;
}

Result<OptimizerSettings> read_optimizer(std::string_view name, std::string_view rate) {
  const auto optimizer = find_optimizer(name);
  if (!optimizer)
    return error(fmt::format("no optimiser {}, expected sgd, adam or adamw", quote(name)));
  OptimizerSettings choice;
  choice.name = name;
  if (rate.empty()) return choice;
  const std::string digits(rate);
  char* end = nullptr;
  choice.learning_rate = std::strtod(digits.c_str(), &end);
  const bool number = *end == '\0' && std::isfinite(choice.learning_rate);
  if (!number || choice.learning_rate <= 0 || choice.learning_rate > kMaxLearningRate)
    return error(fmt::format("the learning rate is {}, expected a number above 0 and at most {}",
                             quote(rate), kMaxLearningRate));
  return choice;
}

bool TransformSettings::runs(std::string_view pass, const std::vector<std::string>& usual) const {
  if (const auto mode = grad_mode_of(pass)) return differentiate == mode;
  if (pass == kOptimizerPass) return optimizer.has_value();
  if (pass == kFoldFrozenPass) return freeze;
  const bool by_itself = pass == kRulesPass ? rules.has_value() : has(usual, pass);
  return (by_itself || has(on, pass)) && !has(off, pass);
}

void TransformSettings::switch_pass(std::string_view pass, const std::vector<std::string>& usual) {
  if (const auto mode = grad_mode_of(pass))
    set_differentiate(differentiate == mode ? std::nullopt : mode);
  else if (pass == kOptimizerPass)
    set_optimizer(optimizer ? std::nullopt : std::optional(OptimizerSettings()));
  else if (pass == kFoldFrozenPass)
    set_freeze(!freeze);
  else
    flip(pass == kRulesPass || has(usual, pass) ? off : on, pass);
}

std::vector<Stage> TransformSettings::chosen_stages() const {
  return stages.empty() ? std::vector{Stage::joint} : stages;
}

void TransformSettings::set_stages(std::vector<Stage> wanted) {
  stages = std::move(wanted);
  if (stages == std::vector{Stage::joint}) stages.clear();
}

void TransformSettings::set_freeze(bool on) {
  freeze = on;
  if (!on) return;
  differentiate.reset();
  optimizer.reset();
}

void TransformSettings::set_differentiate(std::optional<GradMode> mode) {
  differentiate = mode;
  if (mode) freeze = false;
}

void TransformSettings::set_optimizer(std::optional<OptimizerSettings> choice) {
  optimizer = std::move(choice);
  if (optimizer) freeze = false;
}

void TransformSettings::use_current_pass_names() {
  for (std::vector<std::string>* names : {&on, &off})
    for (std::string& name : *names) name = std::string(current_pass_name(name));
}

Result<OpenOptions> options_of(const TransformSettings& transforms) {
  OpenOptions options;
  options.differentiate = transforms.differentiate;
  options.freeze = transforms.freeze;
  options.stages = transforms.stages;
  options.sizes = transforms.dimensions;
  if (!transforms.graph.empty()) options.graph_key = transforms.graph;
  if (transforms.optimizer) {
    Optimizer optimizer = find_optimizer(transforms.optimizer->name).value();
    set_learning_rate(optimizer, transforms.optimizer->learning_rate);
    options.training = TrainingOptions{optimizer, {}};
  }
  for (const std::string& name : transforms.on)
    if (find_pass(name) != nullptr) options.extra_passes.push_back(name);
  for (const std::string& name : transforms.off)
    if (find_pass(name) != nullptr || (name == kRulesPass && transforms.rules))
      options.runner.skip.push_back(name);
  if (!transforms.rules) return options;
  auto rules = parse_rules(transforms.rules->text, file_name(transforms.rules->path));
  if (!rules) return rules.diagnostics();
  if (!has(transforms.off, kRulesPass)) options.library = library_of_rules(*rules);
  options.rules = std::make_shared<const RuleSet>(std::move(*rules));
  return options;
}

Json json_of(const TransformSettings& transforms) {
  Json json = Json::object();
  if (transforms.differentiate)
    json[transforms.differentiate == GradMode::forward ? "jvp" : "differentiate"] = true;
  if (transforms.optimizer)
    json["optimizer"] = {{"name", transforms.optimizer->name},
                         {"learning_rate", transforms.optimizer->learning_rate}};
  if (transforms.freeze) json["freeze"] = true;
  if (!transforms.stages.empty()) json["stages"] = stages_text(transforms.stages);
  if (!transforms.on.empty()) json["on"] = texts_in(transforms.on);
  if (!transforms.off.empty()) json["off"] = texts_in(transforms.off);
  if (transforms.rules)
    json["rules"] = {{"path", valid_utf8(transforms.rules->path)},
                     {"text", valid_utf8(transforms.rules->text)}};
  if (!transforms.graph.empty()) json["graph"] = valid_utf8(transforms.graph);
  for (const auto& [name, size] : transforms.dimensions)
    json["dimensions"][valid_utf8(name)] = size;
  if (transforms.mesh) json["mesh"] = valid_utf8(write_mesh(*transforms.mesh));
  return json;
}

TransformSettings transform_settings_of(const Json& json) {
  TransformSettings transforms;
  if (!json.is_object()) return transforms;
  if (flag_of(json, "jvp")) transforms.differentiate = GradMode::forward;
  if (flag_of(json, "differentiate")) transforms.differentiate = GradMode::reverse;
  transforms.optimizer = optimizer_of(json);
  if (!transforms.differentiate && !transforms.optimizer)
    transforms.freeze = flag_of(json, "freeze");
  if (auto stages = parse_stages(text_of(json, "stages"))) transforms.set_stages(*stages);
  transforms.on = texts_of(json, "on");
  transforms.off = texts_of(json, "off");
  transforms.use_current_pass_names();
  transforms.dimensions = dimensions_of(json);
  transforms.graph = text_of(json, "graph");
  transforms.mesh = mesh_of(json);
  const auto rules = json.find("rules");
  if (rules == json.end()) return transforms;
  transforms.rules = RuleFile{text_of(*rules, "path"), text_of(*rules, "text")};
  const bool good =
      !transforms.rules->path.empty() && transforms.rules->text.size() <= kMaxRuleBytes;
  if (!good || !options_of(transforms)) transforms.rules.reset();
  return transforms;
}

}  // namespace recut::gui

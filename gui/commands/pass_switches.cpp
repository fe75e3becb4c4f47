// Commands that change the transform settings: passes on and off, derivatives, freezing, own rules.
#include <fmt/core.h>

#include <algorithm>

#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/passes/stages.h"
#include "engine/support/text.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/training.h"
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

bool is_forward(const App& app) { return is_ready(app) && app.document()->is_forward(); }
bool can_freeze(const App& app) {
  return is_ready(app) && app.document()->why_not_frozen().empty();
}
bool has_rules(const App& app) {
  return app.document() != nullptr && app.document()->plan_settings.transforms.rules.has_value();
}

// Accepts "noop removal", as the window shows it, and former names.
std::string pass_name(std::string_view argument) {
  std::string name(argument);
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return std::string(current_pass_name(name));
}

bool is_switchable(const DocumentView& document, const std::string& name) {
  if (grad_mode_of(name)) return document.is_forward();
  if (name == kOptimizerPass) return true;
  if (name == kRulesPass) return document.plan_settings.transforms.rules.has_value();
  if (name == kFoldFrozenPass) return document.why_not_frozen().empty();
  const auto has = [&](std::span<const Pass> passes) {
    return std::any_of(passes.begin(), passes.end(),
                       [&](const Pass& pass) { return pass.name == name; });
  };
  return has(all_passes()) || (document.applied_transforms.freeze && has(freezing_passes()));
}

// The passes that run by themselves.
std::vector<std::string> usual_passes(const DocumentView& document) {
  const TransformSettings& transforms = document.plan_settings.transforms;
  return stage_passes_for(document.document->file, transforms.stages, transforms.freeze);
}

// Without a name, the shown pass.
Result<Done> toggle_pass(App& app, std::string_view argument) {
  DocumentView& document = *app.document();
  std::string name = pass_name(argument);
  if (name.empty() && document.pass > 0)
    name = document.document->passes.passes[document.pass - 1].name;
  if (name.empty()) return error("the graph as it was read has no pass to switch");
  if (!is_switchable(document, name)) return error("no pass " + quote(name) + " to switch here");
  TransformSettings wanted = document.plan_settings.transforms;
  wanted.switch_pass(name, usual_passes(document));
  return document.request_transforms(std::move(wanted));
}

bool runs(const App& app, std::string_view argument) {
  const DocumentView& document = *app.document();
  return !argument.empty() &&
         document.plan_settings.transforms.runs(pass_name(argument), usual_passes(document));
}

template <const std::string_view& kPass>
Result<Done> differentiate(App& app, std::string_view) {
  return toggle_pass(app, kPass);
}
template <const std::string_view& kPass>
bool differentiates(const App& app, std::string_view) {
  return runs(app, kPass);
}

// Stages as --stage takes them; without any, the usual one.
Result<Done> choose_stages(App& app, std::string_view list) {
  auto stages = parse_stages(list);
  if (!stages) return stages.diagnostics();
  for (const Stage stage : *stages)
    if (auto fits = check_stage(stage, app.document()->whole().passes.input); !fits) return fits;
  app.document()->plan_settings.transforms.set_stages(std::move(*stages));
  return Done{};
}

Result<Done> freeze(App& app, std::string_view) { return toggle_pass(app, kFoldFrozenPass); }
bool freezes(const App& app, std::string_view) {
  return app.document()->plan_settings.transforms.freeze;
}

Result<Done> load(App& app, std::string_view path) {
  if (!path.empty()) return app.load_rules(std::string(path));
  if (!app.backend.ask_for_file()) app.overlay = "open";
  return Done{};
}

Result<Done> reload_rules(App& app, std::string_view) {
  return app.load_rules(app.document()->plan_settings.transforms.rules->path);
}

Result<Done> remove_rules(App& app, std::string_view) {
  app.document()->plan_settings.transforms.rules.reset();
  std::erase(app.document()->plan_settings.transforms.off, kRulesPass);
  app.document()->transform_faults.clear();
  return Done{};
}

constexpr Command kPassSwitchRows[] = {
    {"pass.toggle", "Switch a pass on or off", "t", "its name, such as attention", is_ready,
     toggle_pass, "transforms", runs},
    {"pass.differentiate", "Differentiate", "g", "", is_forward, differentiate<kGradPass>, "",
     differentiates<kGradPass>},
    {"pass.jvp", "Differentiate in forward mode", "Shift+G", "", is_forward,
     differentiate<kJvpPass>, "", differentiates<kJvpPass>},
    {"pass.freeze", "Freeze for inference", "", "", can_freeze, freeze, "", freezes},
    {"pass.stages", "Choose the stages of passes", "", "joint, or pre-grad,joint,post-grad",
     is_ready, choose_stages},
    {"rules.load", "Load a file of rules", "", "", nullptr, load},
    {"rules.reload", "Read the rules again", "Shift+F5", "", has_rules, reload_rules},
    {"rules.remove", "Remove the rules", "", "", has_rules, remove_rules},
};

}  // namespace

std::span<const Command> pass_switches_commands() { return kPassSwitchRows; }

}  // namespace recut::gui

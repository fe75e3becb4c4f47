#include "gui/model/command_line.h"

#include <fmt/format.h>

#include "engine/support/shell_word.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

// The passes that ran, where they aren't those that run by themselves.
std::string pass_names(const DocumentView& document) {
  const TransformSettings& transforms = document.applied_transforms;
  if (transforms.on.empty() && transforms.off.empty()) return "";
  std::string names;
  for (const PassReport& pass : document.document->passes.passes)
    if (!pass.skipped) names += (names.empty() ? "" : ",") + pass.name;
  return names.empty() ? " --no-passes" : " --passes " + shell_word(names);
}

}  // namespace

std::string report_command_line(const DocumentView& document) {
  const TransformSettings& transforms = document.applied_transforms;
  if (transforms.differentiate || transforms.optimizer || transforms.rules) return "";
  const PlanReport& plan = document.shown->report();
  std::string line = "recut report " + shell_word(file_name(document.path));
  const auto option = [&](const std::string& name, const std::string& value) {
    line += fmt::format(" {} {}", name, shell_word(value));
  };
  const std::string& key = document.document->file.key;
  if (!key.empty() && key != kDefaultGraphKey) option("--graph", key);
  for (const auto& [name, size] : transforms.dimensions)
    option("--dim", fmt::format("{}={}", name, size));
  line += pass_names(document);
  if (plan.strategy != "peak") option("--strategy", plan.strategy);
  option("--budget", plan.budget);
  if (plan.device != kReferenceDevice) option("--device", plan.device);
  if (plan.cost_model != "eager") option("--model", plan.cost_model);
  const PlanSettings& plan_settings = document.plan_settings;
  if (plan_settings.effort != 1) option("--effort", fmt::format("{}", plan_settings.effort));
  for (const std::string& name : plan_settings.overrides.save) option("--save", name);
  for (const std::string& name : plan_settings.overrides.recompute) option("--recompute", name);
  return line;
}

}  // namespace recut::gui

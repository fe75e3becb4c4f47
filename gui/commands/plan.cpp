// Commands that change the plan settings (budget, device, overrides), and the planner's work for
// them.
#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/model/offer.h"

namespace recut::gui {
namespace {

bool is_working(const App& app) { return !app.jobs.idle(); }
bool has_own_overrides(const App& app) {
  if (!is_ready(app)) return false;
  const OverrideRequest& overrides = app.document()->plan_settings.overrides;
  return !overrides.save.empty() || !overrides.recompute.empty();
}
bool is_checkpointed(const App& app) {
  return is_ready(app) && has_checkpoint_policies(app.document()->graph());
}
bool can_undo(const App& app) {
  return app.document() != nullptr && app.history.can_undo(app.document()->serial);
}
bool can_redo(const App& app) {
  return app.document() != nullptr && app.history.can_redo(app.document()->serial);
}

Result<Done> set_budget(App& app, std::string_view text) {
  const auto bytes = read_budget(std::string(text), *app.document());
  if (!bytes) return bytes.diagnostics();
  app.document()->plan_settings.budget_bytes = *bytes;
  return Done{};
}

// Moves by `by` of the known plans: up to plans that peak above the budget, or down to plans below
// both it and the shown plan; less at the ends.
template <int by>
Result<Done> step_budget(App& app, std::string_view) {
  DocumentView& document = *app.document();
  const std::int64_t peak = document.shown ? document.shown->peak() : 0;
  const std::int64_t budget =
      document.plan_settings.budget_bytes == 0 ? peak : document.plan_settings.budget_bytes;
  std::vector<std::int64_t> peaks;
  for (const SharedPlanView& plan : document.known.all())
    if (by > 0 ? plan->peak() > budget : plan->peak() < std::min(peak, budget))
      peaks.push_back(plan->peak());
  if (peaks.empty())
    return error(by > 0 ? "no plan takes more memory" : "no plan is known that takes less");
  std::sort(peaks.begin(), peaks.end());
  const std::size_t steps = std::min<std::size_t>(by > 0 ? by : -by, peaks.size());
  document.plan_settings.budget_bytes = by > 0 ? peaks[steps - 1] : peaks[peaks.size() - steps];
  return Done{};
}

Result<Done> least_budget(App& app, std::string_view) {
  DocumentView& document = *app.document();
  document.plan_settings.budget_bytes = document.least_peak();
  return Done{};
}
Result<Done> no_budget(App& app, std::string_view) {
  app.document()->plan_settings.budget_bytes = 0;
  return Done{};
}

bool has_offer(const App& app) { return is_ready(app) && offered_plan(*app.document()) != nullptr; }

Result<Done> take_offer(App& app, std::string_view) {
  return set_budget(app, offered_plan(*app.document())->request.budget);
}

Result<Done> set_device(App& app, std::string_view name) {
  const auto device = find_device(std::string(name));
  if (!device) return device.diagnostics();
  app.document()->plan_settings.device = std::string(name);
  return Done{};
}

Result<Done> next_device(App& app, std::string_view) {
  std::vector<std::string> devices;
  for (const BuiltinProfile& profile : builtin_profiles()) devices.emplace_back(profile.name);
  if (const std::string here = app.backend.calibrated_profile(); !here.empty())
    devices.push_back(here);
  std::string& now = app.document()->plan_settings.device;
  const auto at = std::find(devices.begin(), devices.end(), now);
  const bool last = at == devices.end() || at + 1 == devices.end();
  return set_device(app, last ? devices.front() : *(at + 1));
}

Result<Done> set_model(App& app, std::string_view name) {
  std::string& now = app.document()->plan_settings.cost_model;
  const std::string requested =
      name.empty() ? (now == "eager" ? "fused" : "eager") : std::string(name);
  if (requested != "eager" && requested != "fused") return error("calls run eager or fused");
  now = requested;
  return Done{};
}

Result<Done> set_effort(App& app, std::string_view text) {
  const auto effort = read_effort(text);
  if (!effort) return effort.diagnostics();
  app.document()->plan_settings.effort = *effort;
  return Done{};
}

Result<Done> set_torch(App& app, std::string_view text) {
  std::vector<std::string>& settings = app.document()->plan_settings.torch;
  auto changed = with_torch_setting(settings, text);
  if (!changed) return changed.diagnostics();
  settings = std::move(*changed);
  return Done{};
}

// Turns a switch of PyTorch's partitioner, by its name.
Result<Done> turn_torch(App& app, std::string_view name) {
  const auto options = read_torch_options(app.document()->plan_settings.torch);
  if (!options) return options.diagnostics();
  for (const TorchSetting& setting : all_torch_settings(*options))
    if (setting.name == name)
      return set_torch(app, fmt::format("{}={}", name, setting.value == "on" ? "off" : "on"));
  return set_torch(app, name);
}

bool is_torch_on(const App& app, std::string_view name) {
  const auto options = read_torch_options(app.document()->plan_settings.torch);
  if (!options) return false;
  for (const TorchSetting& setting : all_torch_settings(*options))
    if (setting.name == name) return setting.value == "on";
  return false;
}

Result<Done> usual_torch(App& app, std::string_view) {
  app.document()->plan_settings.torch.clear();
  return Done{};
}
bool has_torch_settings(const App& app) {
  return is_ready(app) && !app.document()->plan_settings.torch.empty();
}

bool is_device(const App& app, std::string_view name) {
  return app.document()->plan_settings.device == name;
}
bool is_model(const App& app, std::string_view name) {
  return app.document()->plan_settings.cost_model == name;
}

void remove_override(OverrideRequest& overrides, const std::string& name) {
  for (auto* list : {&overrides.save, &overrides.recompute})
    list->erase(std::remove(list->begin(), list->end(), name), list->end());
}

// The named value, or the selected one.
Result<std::string> override_name(const App& app, std::string_view name) {
  const std::string requested = name.empty() ? app.document()->selected_name() : std::string(name);
  if (requested.empty()) return error("no value is selected");
  return requested;
}

template <bool save>
Result<Done> set_override(App& app, std::string_view name) {
  const auto requested = override_name(app, name);
  if (!requested) return requested.diagnostics();
  OverrideRequest overrides = app.document()->plan_settings.overrides;
  const auto& list = save ? overrides.save : overrides.recompute;
  const bool already = std::find(list.begin(), list.end(), *requested) != list.end();
  remove_override(overrides, *requested);
  if (!already) (save ? overrides.save : overrides.recompute).push_back(*requested);
  const auto read = resolve_overrides(app.document()->graph(), overrides);
  if (!read) return read.diagnostics();
  app.document()->plan_settings.overrides = std::move(overrides);
  return Done{};
}

template <bool save>
bool is_pinned(const App& app, std::string_view name) {
  const OverrideRequest& overrides = app.document()->plan_settings.overrides;
  const auto& list = save ? overrides.save : overrides.recompute;
  const std::string requested = name.empty() ? app.document()->selected_name() : std::string(name);
  return std::find(list.begin(), list.end(), requested) != list.end();
}

Result<Done> clear_override(App& app, std::string_view name) {
  const auto requested = override_name(app, name);
  if (!requested) return requested.diagnostics();
  remove_override(app.document()->plan_settings.overrides, *requested);
  return Done{};
}

Result<Done> clear_overrides(App& app, std::string_view) {
  OverrideRequest& overrides = app.document()->plan_settings.overrides;
  overrides.save.clear();
  overrides.recompute.clear();
  return Done{};
}

Result<Done> sweep(App& app, std::string_view) {
  app.planner.sweep(*app.document());
  return Done{};
}

Result<Done> stop_plan(App& app, std::string_view) {
  app.jobs.cancel_all();
  for (const auto& document : app.documents.all()) document->plan_due = -1;
  app.say("Stopped; what was found by then stays");
  return Done{};
}

template <bool again>
Result<Done> undo(App& app, std::string_view) {
  app.undo(again);
  return Done{};
}

Result<Done> switch_checkpoints(App& app, std::string_view) {
  bool& ignored = app.document()->plan_settings.overrides.ignore_checkpoints;
  ignored = !ignored;
  return Done{};
}
bool follows_checkpoints(const App& app, std::string_view) {
  return !app.document()->plan_settings.overrides.ignore_checkpoints;
}

constexpr std::string_view kCurve = "trade-off";
constexpr int kFar = 8;  // plans for a Page key
constexpr Command kPlanRows[] = {
    {"budget.set", "Set the budget", "", "bytes such as 6.5GiB, 40% or none", is_ready, set_budget},
    {"budget.less", "Less memory", "[", "", is_ready, step_budget<-1>},
    {"budget.more", "More memory", "]", "", is_ready, step_budget<1>},
    {"budget.left", "To the left on the curve", "LeftArrow DownArrow", "", is_ready,
     step_budget<-1>, kCurve},
    {"budget.right", "To the right on the curve", "RightArrow UpArrow", "", is_ready,
     step_budget<1>, kCurve},
    {"budget.far_left", "Far to the left", "PageDown", "", is_ready, step_budget<-kFar>, kCurve},
    {"budget.far_right", "Far to the right", "PageUp", "", is_ready, step_budget<kFar>, kCurve},
    {"budget.least", "As little memory as can be held", "Home", "", is_ready, least_budget, kCurve},
    {"budget.none", "No budget", "End", "", is_ready, no_budget, kCurve},
    {"plan.take", "Take the better plan of another budget", "", "", has_offer, take_offer},
    {"device.set", "Set the device", "", "a profile such as h100", is_ready, set_device, "",
     is_device},
    {"device.next", "Next device", "", "", is_ready, next_device},
    {"model.set", "Calls run one by one, or fused", "", "", is_ready, set_model, "", is_model},
    {"effort.set", "Set how hard to search", "", "times more or less than usual, such as 0.2",
     is_ready, set_effort},
    {"torch.set", "Set an option of PyTorch's partitioner", "", "NAME=VALUE, such as solver=greedy",
     is_ready, set_torch},
    {"torch.turn", "Turn a rule of PyTorch's partitioner on or off", "",
     "a rule such as ban_recompute_reductions", is_ready, turn_torch, "", is_torch_on},
    {"torch.usual", "PyTorch's options as usual", "", "", has_torch_settings, usual_torch},
    {"pin.save", "Keep the selected value saved", "s", "", is_ready, set_override<true>, "",
     is_pinned<true>},
    {"pin.recompute", "Recompute the selected value", "r", "", is_ready, set_override<false>, "",
     is_pinned<false>},
    {"pin.none", "Leave the selected value to the planner", "", "", is_ready, clear_override},
    {"pin.clear", "Drop all overrides", "", "", has_own_overrides, clear_overrides},
    {"pin.checkpoints", "Follow the model's checkpoint policies", "", "", is_checkpointed,
     switch_checkpoints, "", follows_checkpoints},
    {"curve.draw", "Draw the trade-off again", "", "", is_ready, sweep},
    {"work.stop", "Stop what is at work", "Ctrl+Period", "", is_working, stop_plan},
    {"edit.undo", "Undo", "Ctrl+Z", "", can_undo, undo<false>},
    {"edit.redo", "Redo", "Ctrl+Y Ctrl+Shift+Z", "", can_redo, undo<true>},
};

}  // namespace

std::span<const Command> plan_commands() { return kPlanRows; }

}  // namespace recut::gui

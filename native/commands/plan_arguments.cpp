#include "native/commands/plan_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "engine/support/units.h"
#include "engine/workspace/library_workspaces.h"
#include "engine/workspace/plan_text.h"
#include "native/calibrated_profile.h"

// Several commands share the plan options, so this file defines each once. request() copies
// strategy, budget, device and model only where the user gave them; elsewhere PlanningRequest's
// defaults hold. A validator turns the names of recut calibrate's profiles into paths:
//   calibrated ⇒ …/recut/device.json      NAME ⇒ …/recut/NAME.json, if there is such a file
// A built-in name stays as it is, even if a file of that name exists. The validator runs while the
// command line is parsed, so a missing calibration fails before any graph is read.

namespace recut::native {

namespace {

bool is_builtin(const std::string& device) {
  const auto profiles = builtin_profiles();
  return std::any_of(profiles.begin(), profiles.end(),
                     [&](const BuiltinProfile& profile) { return profile.name == device; });
}

}  // namespace

void add_override_options(CLI::App& command, OverrideRequest& overrides) {
  const std::string what =
      " (a node's name) for backward. A pattern with * takes all nodes of modules with that part "
      "in their path, such as 'h.*.mlp'; may be given again";
  command.add_option("--save", overrides.save, "Always save this value" + what)
      ->allow_extra_args(false)
      ->type_name("NAME");
  command.add_option("--recompute", overrides.recompute, "Always recompute this value" + what)
      ->allow_extra_args(false)
      ->type_name("NAME");
  command.add_flag("--ignore-checkpoints", overrides.ignore_checkpoints,
                   "Let the planner choose where the model's author gave calls a policy of "
                   "torch.utils.checkpoint (default: plans follow the policies)");
}

void add_torch_options(CLI::App& command, std::vector<std::string>& settings) {
  command
      .add_option("--torch", settings,
                  "Set an option of strategy torch, such as solver=greedy; may be given again. "
                  "recut plan --help lists the options")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

CLI::Validator calibrated_by_name() {
  const auto find = [](std::string& device) -> std::string {
    if (device != kCalibratedDevice) {
      const bool bare = device.find_first_of("/\\.") == std::string::npos;
      const std::string left = bare && !is_builtin(device) ? find_profile(device) : "";
      if (!left.empty()) device = left;
      return {};
    }
    device = find_calibrated_profile();
    return device.empty() ? "this machine wasn't calibrated: recut calibrate does that" : "";
  };
  return {find, ""};
}

void add_profile(CLI::App& command, const std::string& option, std::string& device,
                 const std::string& usual) {
  std::string devices;
  for (const BuiltinProfile& profile : builtin_profiles())
    devices += fmt::format("{}{}", devices.empty() ? "" : ", ", profile.name);
  command
      .add_option(option, device,
                  fmt::format("Device profile that gives the predicted times of calls: {}, a name "
                              "from recut calibrate, or a path (default: {}). measured takes the "
                              "file's own times; calibrated is recut calibrate's profile of "
                              "this processor",
                              devices, usual))
      ->transform(calibrated_by_name())
      ->type_name("PROFILE");
}

void add_model(CLI::App& command, std::string& model) {
  command
      .add_option(
          "--model", model,
          fmt::format("Cost model: eager (each call by itself) or fused (element-wise calls and "
                      "row reductions in one kernel) (default: {}). A fused kernel's inner values "
                      "take no memory; if a budget can't be held otherwise, kernels end at their "
                      "reductions",
                      model.empty() ? "eager" : model))
      ->type_name("NAME");
}

void add_cost_model(CLI::App& command, std::string& device, std::string& model) {
  add_profile(command, "--device", device, "reference");
  add_model(command, model);
}

void PlanArguments::add_to(CLI::App& command) {
  add_search_to(command);
  add_cost_model(command, device, model);
}

void PlanArguments::add_search_to(CLI::App& command) {
  std::string names;
  for (const Strategy& s : all_strategies())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", s.name);
  command
      .add_option("--strategy", strategy,
                  fmt::format("Planning strategy: {} (default: peak)", names))
      ->type_name("NAME");
  command
      .add_option_function<std::string>(
          "--budget", [this](const std::string& text) { budget = text; },
          "Bound on peak memory: bytes (3GiB, 1000000), a share of the peak without recomputation "
          "(40%), or none (default: none). Strategy torch takes a fraction of the saved bytes: 0.4")
      ->type_name("BUDGET");
  command
      .add_option("--effort", effort,
                  "Search effort, as a multiple of the usual one (default: 1). The same effort "
                  "gives the same plan on every machine")
      ->type_name("FACTOR")
      ->check(CLI::PositiveNumber);
  command
      .add_option(
          "--seconds", seconds,
          "Time limit of the search in seconds (default: none). The best plan so far is kept")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  command.add_option("--search-seed", seed, "Seed of the search's random choices (default: 1)")
      ->type_name("N");
  add_override_options(command, overrides);
  add_torch_options(command, torch);
}

PlanArguments PlanArguments::of_step() {
  PlanArguments plan;
  plan.model = "fused";
  return plan;
}

SearchLimits PlanArguments::limits() const {
  SearchLimits limits;
  limits.effort = effort;
  limits.seconds = seconds;
  limits.seed = seed;
  return limits;
}

PlanningRequest PlanArguments::request() const {
  PlanningRequest request;
  if (!strategy.empty()) request.strategy = strategy;
  if (budget) request.budget = *budget;
  if (!device.empty()) request.device = device;
  if (!model.empty()) request.cost_model = model;
  request.limits = limits();
  request.overrides = overrides;
  request.torch = torch;
  return request;
}

Result<Planned> PlanArguments::plan(const Document& document, const Console& console) const {
  PlanningRequest request = this->request();
  if (console.progress)
    request.limits.on_better = [&](double recompute_us) {
      console.say(fmt::format("planning: {} recomputed", format_micros(recompute_us)));
    };
  console.say("planning");
  auto planned = plan_document(document, request);
  console.say("");
  return planned;
}

Result<Done> add_library_workspaces(Document& document, const std::string& device) {
  if (device.empty() || device == kMeasuredDevice) return Done{};
  const auto profile = find_device(device);
  if (!profile) return profile.diagnostics();
  return recut::add_library_workspaces(document, *profile,
                                       std::numeric_limits<std::int64_t>::max());
}

int refuse(const PlanReport& report, bool json, const Console& console) {
  if (json) console.out << plan_report_json(report);
  console.err << "error: " << infeasible_budget_text(report) << "\n";
  return kCheckFailed;
}

int refuse_arena(const Document& document, const ScheduledPlan& scheduled, bool json,
                 const Console& console) {
  if (json) console.out << schedule_json(document, scheduled, false);
  if (!scheduled.planned.report.holds()) return refuse(scheduled.planned.report, false, console);
  console.err << "error: " << arena_over_budget_text(scheduled) << "\n";
  return kCheckFailed;
}

}  // namespace recut::native

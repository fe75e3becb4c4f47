// The plan options of the command line: --strategy, --budget, --device, --model, --save,
// --recompute.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/workspace/scheduling.h"
#include "native/console.h"

namespace recut::native {

struct PlanArguments {
  std::string strategy;
  std::optional<std::string> budget;  // as written on the command line
  double effort = 1;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::string device;
  std::string model;
  OverrideRequest overrides;
  std::vector<std::string> torch;  // settings of strategy torch

  // Of steps that run: the cost model is the fused one, unless it is given.
  static PlanArguments of_step();

  void add_to(CLI::App& command);
  void add_search_to(CLI::App& command);  // all but the prices of calls
  bool asked() const {
    return !strategy.empty() || budget || !device.empty() || !model.empty() ||
           overrides != OverrideRequest() || !torch.empty();
  }
  SearchLimits limits() const;
  PlanningRequest request() const;
  // Reports better plans while it searches.
  Result<Planned> plan(const Document& document, const Console& console) const;
};

// Gives the document's graph the workspaces of its calls that the named device's profile has
// measured (engine/workspace/library_workspaces.h), however large.
Result<Done> add_library_workspaces(Document& document, const std::string& device);

// Replaces "calibrated" by the path of recut calibrate's profile, and fails where there is none.
// Names of its other profiles become paths, too.
CLI::Validator calibrated_by_name();

// The shown default of --profile, where the device that runs is measured.
inline constexpr const char* kProfileOfTheDevice = "the device's own";

// Adds an option for the profile that prices times; `usual`: the shown default.
void add_profile(CLI::App& command, const std::string& option, std::string& device,
                 const std::string& usual);

// Adds --model; `model` is the default, "" for eager.
void add_model(CLI::App& command, std::string& model);

// Adds --device and --model.
void add_cost_model(CLI::App& command, std::string& device, std::string& model);

// Adds --save and --recompute.
void add_override_options(CLI::App& command, OverrideRequest& overrides);

// Adds --torch.
void add_torch_options(CLI::App& command, std::vector<std::string>& settings);

// Reports why the budget can't be held and which can, after the plan's figures where JSON is asked
// for. Returns the exit code.
int refuse(const PlanReport& report, bool json, const Console& console);

// The same where the arena or its plan exceeds the budget, with the schedule's figures.
int refuse_arena(const Document& document, const ScheduledPlan& scheduled, bool json,
                 const Console& console);

}  // namespace recut::native

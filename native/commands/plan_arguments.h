// How a plan is asked for on the command line: --strategy, --budget, --device, --model, --save,
// --recompute.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <optional>
#include <string>

#include "engine/workspace/scheduling.h"
#include "native/console.h"

namespace recut::native {

struct PlanArguments {
  std::string strategy;
  std::optional<std::string> budget;  // as it was asked for
  double effort = 1;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::string device;
  std::string model;
  ChoiceRequest choices;

  void add_to(CLI::App& command);
  void add_search_to(CLI::App& command);  // all but what calls cost
  bool asked() const {
    return !strategy.empty() || budget || !device.empty() || !model.empty() || !choices.empty();
  }
  SearchLimits limits() const;
  PlanningRequest request() const;
  // Tells of better plans on the way.
  Result<Planned> plan(const Document& document, const Console& console) const;
};

// Gives the document's graph the workspaces of its calls that a device's profile, by its name, has
// measured of it (engine/workspace/workspaces.h), however large.
Result<Done> add_workspaces(Document& document, const std::string& device);

// Makes "calibrated" the path of the profile that recut calibrate wrote, and fails where there is
// none; so with the names of others that it left.
CLI::Validator calibrated_by_name();

// The default of --profile in words, where what runs is measured.
inline constexpr const char* kProfileOfTheDevice = "the device's own";

// A profile to price times by, as that option; `usual`: its default, in words.
void add_profile(CLI::App& command, const std::string& option, std::string& device,
                 const std::string& usual);

// --device, --model.
void add_cost_model(CLI::App& command, std::string& device, std::string& model);

// --save, --recompute.
void add_choices(CLI::App& command, ChoiceRequest& choices);

// Says why the budget can't be held and what can, after the plan's figures where JSON is asked for;
// the exit code for that.
int refuse(const PlanReport& report, bool json, const Console& console);

// The same where the arena is beyond the budget, or its plan is, with the schedule's figures.
int refuse_arena(const Document& document, const ScheduledPlan& scheduled, bool json,
                 const Console& console);

}  // namespace recut::native

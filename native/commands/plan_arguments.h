// How a plan is asked for on the command line: --strategy, --budget, --device, --model.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/workspace/planning.h"
#include "native/console.h"

namespace recut::native {

struct PlanArguments {
  std::string strategy;
  std::string budget;
  double effort = 1;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::string device;
  std::string model;

  void add_to(CLI::App& command);
  bool asked() const {
    return !strategy.empty() || !budget.empty() || !device.empty() || !model.empty();
  }
  Result<Planned> plan(const Document& document) const;
};

// Says why the budget can't be held and what can; the exit code for that.
int refuse(const PlanReport& report, const Console& console);

}  // namespace recut::native

// How a plan is asked for on the command line: --strategy, --budget.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/workspace/planning.h"

namespace recut::native {

struct PlanArguments {
  std::string strategy;
  std::string budget;

  void add_to(CLI::App& command);
  bool asked() const { return !strategy.empty() || !budget.empty(); }
  Result<Planned> plan(const Document& document) const;
};

}  // namespace recut::native

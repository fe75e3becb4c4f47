#include "native/commands/plan_arguments.h"

#include <fmt/format.h>

namespace recut::native {

void PlanArguments::add_to(CLI::App& command) {
  std::string names;
  for (const Strategy& s : all_strategies())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", s.name);
  command
      .add_option("--strategy", strategy,
                  fmt::format("How to plan: {} (torch where none is named)", names))
      ->type_name("NAME");
  command
      .add_option("--budget", budget,
                  "What the plan may keep: none, or for strategy torch a fraction of the saved "
                  "bytes such as 0.4")
      ->type_name("BUDGET");
}

Result<Planned> PlanArguments::plan(const Document& document) const {
  PlanningRequest request;
  if (!strategy.empty()) request.strategy = strategy;
  if (!budget.empty()) request.budget = budget;
  return plan_document(document, request);
}

}  // namespace recut::native

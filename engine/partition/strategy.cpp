#include "engine/partition/strategy.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/storage_model.h"
#include "engine/partition/strategies.h"

namespace recut {
namespace {

constexpr Strategy kStrategies[] = {
#define RECUT_STRATEGY(identifier, name, prose) {name, prose, identifier},
#include "engine/partition/strategies.def"
#undef RECUT_STRATEGY
};

std::string strategy_names() {
  std::string names;
  for (const Strategy& strategy : kStrategies)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", strategy.name);
  return names;
}

}  // namespace

std::span<const Strategy> all_strategies() { return kStrategies; }

const Strategy* find_strategy(std::string_view name) {
  const auto* it = std::find_if(std::begin(kStrategies), std::end(kStrategies),
                                [&](const Strategy& strategy) { return strategy.name == name; });
  return it == std::end(kStrategies) ? nullptr : it;
}

Result<PlanOutcome> make_plan(const Graph& graph, const PlanRequest& request) {
  const Strategy* strategy = find_strategy(request.strategy);
  if (strategy == nullptr)
    return error(fmt::format("there is no strategy '{}', expected one of: {}", request.strategy,
                             strategy_names()));
  if (!request.overrides.empty() && strategy->plan != plan_peak)
    return error(
        fmt::format("strategy '{}' takes no overrides (--save, --recompute): only "
                    "strategy 'peak' does",
                    request.strategy));
  if (request.torch != TorchOptions() && strategy->plan != plan_torch)
    return error(fmt::format("strategy '{}' takes no {} (--torch): only strategy 'torch' does",
                             request.strategy, write_torch_options(request.torch).front()));
  if (auto total = check_total_bytes(graph); !total) return total.diagnostics();
  if (request.groups.fused() && strategy->plan != plan_peak && strategy->plan != plan_torch)
    return error(
        fmt::format("strategy '{}' plans call by call: the fused model takes 'peak' and 'torch'",
                    strategy->name));
  return strategy->plan(graph, request);
}

}  // namespace recut

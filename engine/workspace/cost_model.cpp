#include "engine/workspace/cost_model.h"

#include <fmt/format.h>

#include "engine/partition/fusion/fuse_pointwise.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/support/text.h"

namespace recut {

FusionGroups CostModel::groups(const Graph& graph, const StorageModel& storages) const {
  return fused ? fuse_pointwise(graph, storages) : FusionGroups();
}

Result<Unplanned> CostModel::unplanned(const Graph& written, const Graph& graph) const {
  if (const auto total = check_total_bytes(written); !total) return total.diagnostics();
  const StorageModel storages(graph);
  if (fused) return unplanned_step(graph, storages, groups(graph, storages), device.rates);
  const Unplanned program = unplanned_step(written, device.rates);
  const auto once = make_plan(graph, {"default", NoBudget{}});
  if (!once) return once.diagnostics();
  const auto replayed = replay(graph, storages, once->plan, device.rates);
  if (!replayed) return replayed.diagnostics();
  if (program.peak_bytes <= replayed->peak_bytes) return program;
  return Unplanned{replayed->peak_bytes, replayed->step_us};
}

Result<CostModel> find_cost_model(const std::string& device, std::string_view name) {
  return find_cost_model(std::nullopt, device, name);
}

Result<CostModel> find_cost_model(const std::optional<DeviceProfile>& known,
                                  const std::string& device, std::string_view name) {
  if (name != "eager" && name != "fused")
    return error(fmt::format("there is no model {}, expected eager or fused", quote(name)));
  auto profile = known ? Result<DeviceProfile>(*known) : find_device(device);
  if (!profile) return profile.diagnostics();
  return CostModel{std::move(*profile), name == "fused"};
}

}  // namespace recut

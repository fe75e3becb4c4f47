// What calls cost in time and bytes: a device, and whether calls fuse.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/partition/device_profile.h"
#include "engine/partition/fusion/fusion_groups.h"
#include "engine/partition/unplanned.h"
#include "engine/support/result.h"

namespace recut {

struct CostModel {
  DeviceProfile device;
  bool fused = false;

  // Empty where each call stands by itself.
  FusionGroups groups(const Graph& graph, const StorageModel& storages) const;

  // A step without recomputation: the file's program as it was written, or every node of the graph
  // that the passes made of it once (strategy default), whichever peaks lower; fused, every kernel
  // of that graph once. Fails where the bytes of either add up to too much.
  Result<Unplanned> unplanned(const Graph& written, const Graph& graph) const;
};

// `device` as find_device reads it; `name` is "eager" or "fused".
Result<CostModel> find_cost_model(const std::string& device, std::string_view name);

// The same with a profile in hand, where there is one.
Result<CostModel> find_cost_model(const std::optional<DeviceProfile>& profile,
                                  const std::string& device, std::string_view name);

}  // namespace recut

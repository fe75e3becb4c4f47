// What calls cost in time and bytes: a device, and how far calls fuse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cost/device_profile.h"
#include "engine/fusion/kernel_model.h"
#include "engine/partition/pins.h"
#include "engine/partition/unplanned.h"
#include "engine/support/result.h"

namespace recut {

struct CostModel {
  DeviceProfile device;
  Fusion fusion = Fusion::none;
  std::vector<NodeId> apart;  // calls that no other kernel than their own computes: those pinned

  bool fused() const { return fusion != Fusion::none; }
  // The same device's with kernels that hold less at once; nothing where there are none. A plan for
  // a budget that can't be held is made anew by this one.
  std::optional<CostModel> smaller() const;

  // The same with these pins.
  CostModel with(const Pins& pins) const;

  KernelModel kernels(const Graph& graph) const { return {graph, fusion, apart}; }

  // A step without recomputation: the file's program as it was written, or every node of the graph
  // that the passes made of it once (strategy default), whichever peaks lower; fused, every kernel
  // of that graph once. Fails where the bytes of either add up to too much.
  Result<Unplanned> unplanned(const Graph& written, const Graph& graph) const;
};

// `device` as find_device reads it; `name` is "eager" or "fused", whose kernels go as far as any.
Result<CostModel> find_cost_model(const std::string& device, std::string_view name);

// The device whose times are those that the graph's file has. A call of which it has none is priced
// by the built-in profile that the file names ("measured_on"), or else by the reference.
inline constexpr std::string_view kMeasuredDevice = "measured";

// The same for a graph, where `device` may also be "measured"; fails where nothing was. With a
// profile in hand, that one. Kernels of which the profile has this graph's measured times are
// priced by those.
Result<CostModel> find_cost_model(const Graph& graph, const std::optional<DeviceProfile>& profile,
                                  const std::string& device, std::string_view name);

}  // namespace recut

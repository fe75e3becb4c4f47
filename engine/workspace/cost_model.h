// The cost model: a device, which prices calls in time and bytes, and how far calls fuse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cost/device_profile.h"
#include "engine/fusion/kernel_model.h"
#include "engine/partition/baseline.h"
#include "engine/partition/overrides.h"
#include "engine/support/result.h"

namespace recut {

struct CostModel {
  DeviceProfile device;
  Fusion fusion = Fusion::none;
  std::vector<NodeId> apart;  // calls that aren't inlined elsewhere: overridden ones

  bool fused() const { return fusion != Fusion::none; }
  // The same device with kernels that hold fewer bytes at once; nothing if there are none. If a
  // budget can't be held, planning is repeated with this model.
  std::optional<CostModel> with_smaller_kernels() const;

  // The same with these overrides.
  CostModel with_overrides(const Overrides& overrides) const;

  KernelModel kernels(const Graph& graph) const { return {graph, fusion, apart}; }

  // The baseline, a step without recomputation: the file's program as written, or every node of the
  // optimised graph once (strategy default), whichever peaks lower. In the fused model: every
  // kernel of that graph once. Fails if the bytes of either overflow.
  Result<BaselineCost> baseline_cost(const Graph& reference_graph, const Graph& graph) const;
};

// `device` as find_device reads it; `name`: "eager" or "fused" (the largest kernels).
Result<CostModel> find_cost_model(const std::string& device, std::string_view name);

// The device with the times that the graph's file has measured. A call without one is priced by the
// built-in profile that the file names ("measured_on"), or else by the reference profile.
inline constexpr std::string_view kMeasuredDevice = "measured";

// The same for a graph: `device` may be "measured", which fails without measured times. A given
// `profile` replaces `device`. Measured times of this graph's kernels in the profile take
// precedence.
Result<CostModel> find_cost_model(const Graph& graph, const std::optional<DeviceProfile>& profile,
                                  const std::string& device, std::string_view name);

}  // namespace recut

// From a graph to the plan that a GPU runs, for every command: passes that decide by the GPU's
// figures, times by the precision of products, bytes for the workspaces of library calls, and
// channels-last convolutions where that pays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cost/device_profile.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"
#include "native/cuda/device_call.h"
#include "native/cuda/precision.h"

namespace recut::native {

struct GpuPlanRequest {
  std::string gpu;  // its name: "NVIDIA H100 80GB HBM3"
  cuda::Precision precision = cuda::Precision::f32;
  bool library = true;  // products and convolutions are calls of cuBLASLt and cuDNN
  std::int64_t max_workspace_bytes = cuda::kDefaultWorkspaceBytes;  // bytes, of one such call
  std::string profile;  // named, as find_device reads it; "": the GPU's own
  PlanningRequest planning;

  // Opens the graph to plan. `device`: the figures by which device passes decide; none: these
  // passes don't run. `skip`: the name of a pass to leave out, or "".
  std::function<Result<Document>(const std::optional<Device>& device, std::string_view skip)> open;
  std::function<void(std::string_view phase)> progress = [](std::string_view) {};
};

struct GpuPlan {
  Document document;
  ScheduledPlan scheduled;
  std::optional<DeviceProfile> known;  // the profile of this GPU that priced it, if any
  std::string note;                    // for users, about decisions; or ""
};

// Plans and schedules. Plans twice where convolutions could have channels last:
// copies between layouts take memory, so that a small budget may be better off without. Fails as
// find_gpu_profile, `open` and schedule_document do.
Result<GpuPlan> plan_for_gpu(const GpuPlanRequest& request);

}  // namespace recut::native

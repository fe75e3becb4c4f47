// From a graph to the plan that a card runs, for every command: passes that decide by the card's
// figures, prices by the precision of products, room for the workspaces of library calls, and
// convolutions with their channels last where that pays.
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

struct CardPlanRequest {
  std::string card;  // its name: "NVIDIA H100 80GB HBM3"
  cuda::Precision precision = cuda::Precision::f32;
  bool library = true;  // products and convolutions are calls of cuBLASLt and cuDNN
  std::int64_t most_workspace_bytes = cuda::kUsualWorkspace;  // of one such call
  std::string profile;  // a named one, as find_device reads it; "": the card's own
  PlanningRequest planning;

  // Opens the graph that is planned. `device`: whose figures its passes decide by; nothing: none
  // of those passes run. `skip`: the name of a pass to leave out, or "".
  std::function<Result<Document>(const std::optional<Device>& device, std::string_view skip)> open;
  std::function<void(std::string_view phase)> progress = [](std::string_view) {};
};

struct CardPlan {
  Document document;
  ScheduledPlan scheduled;
  std::optional<DeviceProfile> known;  // that priced it, where that is a profile of this card
  std::string note;                    // for people, on what was decided; "" where nothing was
};

// Plans in the fused model and schedules. Plans twice where convolutions could lie with their
// channels last: copies between layouts take room, so that a small budget may be better off
// without. Fails as find_card_profile, `open` and schedule_document do.
Result<CardPlan> plan_for_card(const CardPlanRequest& request);

}  // namespace recut::native

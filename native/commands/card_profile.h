// Device profiles of NVIDIA cards: those that recut calibrate writes, and the one to plan by.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/cost/device_profile.h"
#include "native/cuda/calibration.h"
#include "native/cuda/precision.h"
#include "native/cuda/profiling.h"

namespace recut::native {

// A card as a device profile names it: products of f32 are rounded to tf32, or aren't.
struct CardWords {
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string driver;  // the CUDA version that it knows
  bool tf32 = false;
};

// What was measured of the card alone.
nlohmann::ordered_json card_profile(const CardWords& card, const cuda::CardCalibration& measured);

// Adds what a graph's kernels took, and the name of such a profile.
void add_kernels(nlohmann::ordered_json& profile, const CardWords& card,
                 const cuda::GraphProfile& measured);

// What a step of this graph is planned by on a card, with products of that precision: what recut
// calibrate measured of the graph's kernels there (not without a graph; nothing is measured with
// bf16), else of the card, else the data sheet that is built in; and where the program has none of
// it, of another card (`known` is false). Fails where what was written is no profile.
struct FoundProfile {
  DeviceProfile profile;
  bool known = true;
};
Result<FoundProfile> find_card_profile(const std::string& card, const Graph* graph,
                                       cuda::Precision precision);

// The profile that --profile names, as find_device reads it; else the card's.
Result<FoundProfile> profile_on_card(const std::string& named, const std::string& card,
                                     const Graph* graph, cuda::Precision precision);

}  // namespace recut::native

// The device profile that a step on an NVIDIA card is planned by.
#pragma once

#include <string>

#include "engine/cost/device_profile.h"
#include "engine/ir/graph.h"
#include "native/cuda/precision.h"

namespace recut::native {

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

// The card as passes of a step see it, whose products the libraries compute with that precision.
Device device_of_step(const DeviceProfile& profile, cuda::Precision precision);

// The profile that --profile names, as find_device reads it; else the card's.
Result<FoundProfile> profile_on_card(const std::string& named, const std::string& card,
                                     const Graph* graph, cuda::Precision precision);

}  // namespace recut::native

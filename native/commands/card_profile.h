// Device profiles of NVIDIA cards, as recut calibrate writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "native/cuda/calibration.h"
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

}  // namespace recut::native

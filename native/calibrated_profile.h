// The device profiles that `recut calibrate` leaves for later runs: device.json of this machine's
// processor, and beside it those of cards, and of graphs on cards, each under its own name.
#pragma once

#include <string>
#include <string_view>

namespace recut::native {

// $XDG_CONFIG_HOME/recut/device.json, else ~/.config/recut/device.json; empty where there is
// neither folder.
std::string calibrated_profile_path();

// The same where it was written; empty before.
std::string find_calibrated_profile();

// NAME.json in the same folder; empty where there is none, or, of the second, no such file.
std::string profile_path(const std::string& name);
std::string find_profile(const std::string& name);

// "NVIDIA H100 80GB HBM3": "nvidia-h100-80gb-hbm3".
std::string profile_name_of_card(std::string_view card);
// Of a graph's kernels on it: the graph's digest (measured_kernels.h), and how f32 is multiplied.
std::string profile_name_of_graph(std::string_view card, std::string_view digest, bool tf32);

// The device by which steps are planned that run here: what `recut calibrate` left, else the
// profile of a usual processor, which is a guess.
inline constexpr const char* kUsualProcessor = "cpu8";
std::string profile_of_this_machine();

// How the command line names the calibrated profile as a device.
inline constexpr const char* kCalibratedDevice = "calibrated";

}  // namespace recut::native

// The device profiles that `recut calibrate` leaves for later runs: device.json for this machine's
// processor, and beside it one for each GPU, and for each graph on a GPU.
#pragma once

#include <string>
#include <string_view>

namespace recut::native {

// $XDG_CONFIG_HOME/recut/device.json, else ~/.config/recut/device.json; empty where neither folder
// exists.
std::string calibrated_profile_path();

// The path of the calibrated profile if the file exists; else empty.
std::string find_calibrated_profile();

// NAME.json in the same folder. Empty where there is no folder; the second also where there is no
// such file.
std::string profile_path(const std::string& name);
std::string find_profile(const std::string& name);

// The name of a GPU's profile: "nvidia-h100-80gb-hbm3" for "NVIDIA H100 80GB HBM3".
std::string profile_name_of_gpu(std::string_view gpu);
// The name of a graph's kernel profile: the graph's digest (measured_kernels.h), and how f32 is
// multiplied.
std::string profile_name_of_graph(std::string_view gpu, std::string_view digest, bool tf32);

// The device that plans steps on this machine: `recut calibrate`'s profile, else the profile of a
// typical processor, which is a guess.
inline constexpr const char* kDefaultProcessor = "cpu8";
std::string profile_of_this_machine();

// The command line's name of the calibrated profile.
inline constexpr const char* kCalibratedDevice = "calibrated";

}  // namespace recut::native

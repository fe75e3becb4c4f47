// The device profile that `recut calibrate` leaves for later runs.
#pragma once

#include <string>

namespace recut::native {

// $XDG_CONFIG_HOME/recut/device.json, else ~/.config/recut/device.json; empty where there is
// neither folder.
std::string calibrated_profile_path();

// The same where it was written; empty before.
std::string find_calibrated_profile();

// The device by which steps are planned that run here: what `recut calibrate` left, else the
// profile of a usual processor, which is a guess.
inline constexpr const char* kUsualProcessor = "cpu8";
std::string profile_of_this_machine();

// How the command line names the calibrated profile as a device.
inline constexpr const char* kCalibratedDevice = "calibrated";

}  // namespace recut::native

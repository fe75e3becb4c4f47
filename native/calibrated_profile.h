// The device profile that `recut calibrate` leaves for later runs.
#pragma once

#include <string>

namespace recut::native {

// $XDG_CONFIG_HOME/recut/device.json, else ~/.config/recut/device.json; empty where there is
// neither folder.
std::string calibrated_profile_path();

// The same where it was written; empty before.
std::string find_calibrated_profile();

}  // namespace recut::native

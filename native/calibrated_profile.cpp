#include "native/calibrated_profile.h"

#include <cstdlib>
#include <filesystem>

namespace recut::native {

std::string calibrated_profile_path() {
  namespace fs = std::filesystem;
  const char *config = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
  fs::path folder;
  if (config != nullptr && *config != '\0')
    folder = config;
  else if (home != nullptr && *home != '\0')
    folder = fs::path(home) / ".config";
  else
    return {};
  return (folder / "recut" / "device.json").string();
}

std::string find_calibrated_profile() {
  const std::string path = calibrated_profile_path();
  std::error_code absent;
  return !path.empty() && std::filesystem::exists(path, absent) ? path : std::string();
}

std::string profile_of_this_machine() {
  const std::string calibrated = find_calibrated_profile();
  return calibrated.empty() ? kUsualProcessor : calibrated;
}

}  // namespace recut::native

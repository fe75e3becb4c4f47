#include "native/calibrated_profile.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace recut::native {

namespace {

constexpr std::size_t kMaxGpuNameBytes = 40;

}  // namespace

std::string profile_path(const std::string& name) {
  namespace fs = std::filesystem;
  const char *config = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
  fs::path folder;
  if (config != nullptr && *config != '\0')
    folder = config;
  else if (home != nullptr && *home != '\0')
    folder = fs::path(home) / ".config";
  else
    return {};
  return (folder / "recut" / (name + ".json")).string();
}

std::string find_profile(const std::string& name) {
  const std::string path = profile_path(name);
  std::error_code absent;
  return !path.empty() && std::filesystem::exists(path, absent) ? path : std::string();
}

std::string calibrated_profile_path() { return profile_path("device"); }

std::string find_calibrated_profile() { return find_profile("device"); }

std::string profile_name_of_gpu(std::string_view gpu) {
  std::string name;
  for (const char c : gpu) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter))
      name += static_cast<char>(std::tolower(letter));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  name.resize(std::min(name.size(), kMaxGpuNameBytes));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string profile_name_of_graph(std::string_view gpu, std::string_view digest, bool tf32) {
  return profile_name_of_gpu(gpu) + "-" + std::string(digest) + (tf32 ? "-tf32" : "");
}

std::string profile_of_this_machine() {
  const std::string calibrated = find_calibrated_profile();
  return calibrated.empty() ? kDefaultProcessor : calibrated;
}

}  // namespace recut::native

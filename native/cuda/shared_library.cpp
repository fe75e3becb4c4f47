#include "native/cuda/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace recut::cuda {
namespace {

namespace fs = std::filesystem;

constexpr int kNewestCuda = 13, kOldestCuda = 12;

std::vector<std::string> split(const char* list) {
  std::vector<std::string> parts;
  for (std::string_view left = list == nullptr ? "" : list; !left.empty();) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end > 0) parts.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return parts;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, absent))
    if (entry.is_directory(absent)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Folders <prefix>/lib/python3*/{site,dist}-packages/nvidia/*/lib.
void add_wheels(const fs::path& prefix, std::vector<std::string>& folders) {
  for (const fs::path& python : folders_in(prefix / "lib")) {
    if (python.filename().string().rfind("python3", 0) != 0) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const fs::path& wheel : folders_in(python / packages / "nvidia"))
        folders.push_back((wheel / "lib").string());
  }
}

void add(const std::string& folder, std::vector<std::string>& folders) {
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

}  // namespace

std::vector<std::string> library_folders() {
  if (const char* given = std::getenv("RECUT_CUDA_PATH"); given != nullptr && *given != '\0')
    return split(given);
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      for (const char* library : {"/lib64", "/lib"}) add(home + std::string(library), folders);
  add("/usr/local/cuda/lib64", folders);
  add("/usr/local/cuda/lib", folders);
  std::vector<std::string> wheels;
  for (const std::string& programs : split(std::getenv("PATH")))
    add_wheels(fs::path(programs).parent_path(), wheels);
  if (const char* home = std::getenv("HOME")) add_wheels(fs::path(home) / ".local", wheels);
  for (const std::string& wheel : wheels) add(wheel, folders);
  return folders;
}

std::vector<std::string> versioned_names(const std::string& stem, int driver_major) {
  std::vector<std::string> names;
  for (int version = kNewestCuda; version >= kOldestCuda; --version)
    if (version <= driver_major) names.push_back(fmt::format("{}.{}", stem, version));
  return names;
}

Result<SharedLibrary> SharedLibrary::open(std::string_view what, std::span<const std::string> names,
                                          std::span<const std::string> folders) {
  std::string refused;
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      std::error_code absent;
      if (!folder.empty() && !fs::exists(path, absent)) continue;
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
        return SharedLibrary(handle, path);
      const char* reason = dlerror();
      if (!folder.empty() && refused.empty() && reason != nullptr) refused = reason;
    }
  }
  if (!refused.empty()) return error(fmt::format("{} can't be loaded: {}", what, refused));
  std::vector<std::string> searched;
  for (const std::string& folder : folders)
    searched.push_back(folder.empty() ? "the loader's own folders" : folder);
  return error(fmt::format("{} isn't found: {} in {}", what, fmt::join(names, " or "),
                           fmt::join(searched, ", ")));
}

void* SharedLibrary::address(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace recut::cuda

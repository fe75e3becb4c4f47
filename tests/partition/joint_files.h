// The joint graph files that partition's tests and benchmark run over.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/effort.h"
#include "tests/paths.h"

namespace recut {

// Files in the repository, and those of a folder `shared` beside it where there is one; under the
// sanitizers the small ones.
inline std::vector<std::string> joint_files() {
  std::vector<std::string> files;
  for (const char* folder :
       {RECUT_SOURCE_DIR "/../shared/graphs", RECUT_SOURCE_DIR "/samples/joint"}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      const bool known = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        return std::filesystem::path(file).filename() == name;
      });
      if (test::kSanitized && entry.file_size() > 25'000) continue;
      if (!known && name.size() > 8 && name.substr(name.size() - 8) == ".json.gz")
        files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace recut

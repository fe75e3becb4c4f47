// A folder that its destructor removes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/support/check.h"

namespace recut::test {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "recut-test-XXXXXX").string()) {
    RECUT_CHECK(mkdtemp(path_.data()) != nullptr, "the temporary folder takes folders");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace recut::test

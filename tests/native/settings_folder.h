// The user's settings folder, where recut calibrate leaves profiles, for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/native/run_command.h"

namespace recut::native {

class SettingsFolder {
 public:
  SettingsFolder() : folder_("settings") {
    const char* before = std::getenv("XDG_CONFIG_HOME");
    if (before != nullptr) before_ = before;
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
  }
  ~SettingsFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.path(), ignored);
    if (before_)
      ::setenv("XDG_CONFIG_HOME", before_->c_str(), 1);
    else
      ::unsetenv("XDG_CONFIG_HOME");
  }

 private:
  TemporaryFile folder_;
  std::optional<std::string> before_;
};

}  // namespace recut::native

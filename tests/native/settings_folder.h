// The user's settings folder, where recut calibrate leaves profiles, for one test.
#pragma once

#include <filesystem>

#include "tests/environment_variable.h"
#include "tests/native/run_command.h"

namespace recut::native {

class SettingsFolder {
 public:
  SettingsFolder() : folder_("settings"), variable_("XDG_CONFIG_HOME", folder_.path()) {}
  ~SettingsFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.path(), ignored);
  }

 private:
  TemporaryFile folder_;
  test::EnvironmentVariable variable_;
};

}  // namespace recut::native

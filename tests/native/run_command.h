// Runs the command inside the test, and makes files for it.
#pragma once

#include <unistd.h>
#include <iterator>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "native/cli.h"
#include "tests/paths.h"

namespace recut::native {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

inline Ran run(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = run_command(arguments, Console{out, err});
  return {code, out.str(), err.str()};
}

inline std::string sample(const std::string& name) {
  return RECUT_SOURCE_DIR "/samples/joint/" + name;
}

// A file that its destructor removes. Tests run side by side, each in a process of its own.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               ("recut_command_test_" + std::to_string(::getpid()) + "_" + name))
                  .string()) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace recut::native

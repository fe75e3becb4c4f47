// CUDA's libraries, opened at run time: one build starts with them and without.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut::cuda {

class SharedLibrary {
 public:
  // Opens the first of the file names that is in a folder, in the order of names. The folder ""
  // is the loader's own search (LD_LIBRARY_PATH, ldconfig). `what` names the library in the
  // diagnostic, which lists the folders. Libraries stay open until the process ends, since CUDA's
  // can't be closed safely.
  static Result<SharedLibrary> open(std::string_view what, std::span<const std::string> names,
                                    std::span<const std::string> folders);

  const std::string& path() const { return path_; }

  // Fails where the library has no such function.
  template <class Function>
  Result<Done> find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(address(symbol));
    if (function == nullptr)
      return error(path_ + " has no function " + symbol + ": another version of it is needed");
    return Done{};
  }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* address(const char* symbol) const;

  void* handle_;
  std::string path_;
};

// Folders where CUDA's libraries may be. If RECUT_CUDA_PATH is set, its folders (separated by ':')
// and no others. Else the loader's own, CUDA_HOME's, /usr/local/cuda, and the folders that NVIDIA's
// wheels make in each python3's packages (of PATH).
std::vector<std::string> library_folders();

// The names of a library that work with a driver of this CUDA version: "libnvrtc.so.13",
// "libnvrtc.so.12".
std::vector<std::string> versioned_names(const std::string& stem, int driver_major);

}  // namespace recut::cuda

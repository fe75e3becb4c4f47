// A folder of temporary files for the linker and its inputs; the destructor removes it.
#pragma once

#include <string>
#include <string_view>

namespace recut::aot {

class TemporaryFiles {
 public:
  TemporaryFiles();
  ~TemporaryFiles();
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  bool write(const std::string& name, std::string_view bytes) const;  // false: errno says why

 private:
  std::string folder_;
  bool made_ = false;
};

}  // namespace recut::aot

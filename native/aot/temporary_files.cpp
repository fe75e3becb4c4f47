#include "native/aot/temporary_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace recut::aot {

namespace fs = std::filesystem;

TemporaryFiles::TemporaryFiles()
    : folder_((fs::temp_directory_path() / "recut-link-XXXXXX").string()) {
  made_ = mkdtemp(folder_.data()) != nullptr;
}

TemporaryFiles::~TemporaryFiles() {
  std::error_code ignored;
  if (made_) fs::remove_all(folder_, ignored);
}

bool TemporaryFiles::write(const std::string& name, std::string_view bytes) const {
  std::ofstream file(path_of(name), std::ios::binary);
  file << bytes;
  return made_ && bool(file.flush());
}

}  // namespace recut::aot

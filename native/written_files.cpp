#include "native/written_files.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace recut::native {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<Done> write_file(const std::string& path, std::string_view bytes) {
  const fs::path parent = fs::path(path).parent_path();
  std::error_code ignored;  // only whether the file can be opened matters
  if (!parent.empty()) fs::create_directories(parent, ignored);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Diagnostic{fmt::format("can't write: {}", std::strerror(errno)), path, 0, 0};
  return Done{};
}

Result<Done> write_folder(const std::string& folder, std::span<const BundleFile> files) {
  for (const BundleFile& file : files) {
    const fs::path path = fs::path(folder) / file.path;
    if (auto done = write_file(path.string(), file.bytes); !done) return done;
    std::error_code ignored;  // the scripts are run by sh
    if (file.executable)
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, ignored);
  }
  return Done{};
}

}  // namespace recut::native

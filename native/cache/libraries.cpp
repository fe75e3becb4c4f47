#include "native/cache/libraries.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "native/cache/digest.h"
#include "native/cache/files.h"

namespace recut::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = ".so", kHeader = ".h";

std::string libraries_in(const std::string& directory) { return directory + "/libraries"; }

// The files of a folder that keep_library wrote.
std::vector<FileFacts> own_files(const std::string& folder) {
  std::vector<FileFacts> files = files_in(folder);
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const FileFacts& file) {
                               return !file.name.ends_with(kLibrary) &&
                                      !file.name.ends_with(kHeader);
                             }),
              files.end());
  return files;
}

}  // namespace

Result<LibraryPaths> keep_library(const std::string& directory, const std::string& name,
                                  const LibraryContents& contents) {
  const Digest digest = digest_of({contents.library, contents.header, contents.weights});
  const std::string folder = libraries_in(directory) + "/" + digest.hex();
  if (auto made = make_directory(folder); !made) return made.diagnostics();
  remove_abandoned(folder);
  LibraryPaths paths{folder + "/" + name + std::string(kLibrary),
                     folder + "/" + name + std::string(kHeader)};
  if (auto done = write_whole(paths.library, contents.library); !done) return done.diagnostics();
  if (auto done = write_whole(paths.header, contents.header); !done) return done.diagnostics();
  return paths;
}

std::vector<LibraryFacts> list_libraries(const std::string& directory) {
  std::vector<LibraryFacts> found;
  std::error_code gone;
  for (auto at = fs::directory_iterator(libraries_in(directory), gone);
       at != fs::directory_iterator(); at.increment(gone)) {
    LibraryFacts facts;
    facts.hash = at->path().filename().string();
    if (!Digest::from_hex(facts.hash)) continue;
    for (const FileFacts& file : own_files(at->path().string())) {
      facts.bytes += file.bytes;
      facts.used = std::max(facts.used, file.used);
      if (file.name.ends_with(kLibrary))
        facts.name = file.name.substr(0, file.name.size() - kLibrary.size());
    }
    found.push_back(std::move(facts));
  }
  std::sort(found.begin(), found.end(),
            [](const LibraryFacts& a, const LibraryFacts& b) { return a.hash < b.hash; });
  return found;
}

std::size_t clear_libraries(const std::string& directory) {
  const std::string root = libraries_in(directory);
  const std::vector<LibraryFacts> libraries = list_libraries(directory);
  for (const LibraryFacts& library : libraries) {
    const std::string folder = root + "/" + library.hash;
    remove_abandoned(folder);
    for (const FileFacts& file : own_files(folder)) unlink((folder + "/" + file.name).c_str());
    rmdir(folder.c_str());  // fails where anything else is in it
  }
  rmdir(root.c_str());
  return libraries.size();
}

}  // namespace recut::cache

// Libraries that `recut compile` puts into the cache's directory, where it is given no path:
//
//   libraries/1f0c…/mlp.so     below the hash of all contents
//   libraries/1f0c…/mlp.h
//
// Programs are linked with them, so they stay until they are cleared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut::cache {

struct LibraryContents {
  std::string_view library, header, weights;  // weights: beside it, by a path of the caller's
};

struct LibraryPaths {
  std::string library, header;
};

// Writes both files; equal contents have equal paths. `name`: of the files, without an ending.
Result<LibraryPaths> keep_library(const std::string& directory, const std::string& name,
                                  const LibraryContents& contents);

struct LibraryFacts {
  std::string hash, name;
  std::int64_t bytes = 0;  // of both files
  std::int64_t used = 0;   // last written, in nanoseconds since 1970
};

std::vector<LibraryFacts> list_libraries(const std::string& directory);

// Removes all of them. Returns how many there were.
std::size_t clear_libraries(const std::string& directory);

}  // namespace recut::cache

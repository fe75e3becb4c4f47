// Names the cache's directory while it lives.
#pragma once

#include <string>

#include "tests/environment_variable.h"

namespace recut::test {

class CacheAt : EnvironmentVariable {
 public:
  explicit CacheAt(const std::string& path) : EnvironmentVariable("RECUT_CACHE_DIR", path) {}
};

}  // namespace recut::test

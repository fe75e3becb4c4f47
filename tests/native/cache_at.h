// Names the cache's directory while it lives.
#pragma once

#include <cstdlib>
#include <string>

namespace recut::test {

class CacheAt {
 public:
  explicit CacheAt(const std::string& path) { setenv("RECUT_CACHE_DIR", path.c_str(), 1); }
  ~CacheAt() { unsetenv("RECUT_CACHE_DIR"); }
  CacheAt(const CacheAt&) = delete;
  CacheAt& operator=(const CacheAt&) = delete;
};

}  // namespace recut::test

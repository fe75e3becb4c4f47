// The C header of a compiled step.
#pragma once

#include <cstdint>
#include <string>

#include "native/aot/interface.h"

namespace recut::aot {

struct HeaderFacts {
  std::string graph;      // its name
  std::string processor;  // that the code is for, in LLVM's words
  std::int64_t arena_bytes = 0;
};

// C99, and C++: what the library has, and how it is used.
std::string header_text(const Interface& interface, const HeaderFacts& facts);

}  // namespace recut::aot

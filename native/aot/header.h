// The C header of a compiled step.
#pragma once

#include <cstdint>
#include <string>

#include "native/aot/interface.h"

namespace recut::aot {

struct HeaderFacts {
  std::string graph;      // the graph's name
  std::string processor;  // LLVM's name of the target
  std::int64_t arena_bytes = 0;
};

// A header for C99 and C++: the library's functions, and how they are used.
std::string header_text(const Interface& interface, const HeaderFacts& facts);

}  // namespace recut::aot

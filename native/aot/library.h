// From a scheduled plan to a shared library with a C interface:
//   program ⇒ LLVM IR ⇒ object code ⇒ shared library
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"
#include "native/aot/interface.h"
#include "native/cpu/object_code.h"

namespace recut::aot {

// Where the values stand that the graph's file has: inputs of every call, a file beside the
// library, or the library itself.
enum class Weights : std::uint8_t { inputs, beside, inside };

// The most bytes of weights inside: code reaches its data within 2 GiB.
inline constexpr std::int64_t kMaxWeightsInside = std::int64_t{1} << 30;

struct LibraryRequest {
  std::string prefix;  // of the C functions
  cpu::Target target;
  std::string linker = "ld";
  Weights weights = Weights::inputs;
};

struct BuiltLibrary {
  Interface interface;
  std::int64_t arena_bytes = 0;
  std::string weights;  // the bytes of the file beside it
};

// Writes the library to `path`. Fails where an operator has no lowering (the message names all),
// where weights are too large to be inside, and with the linker's message.
Result<BuiltLibrary> build_library(const Document& document, const ScheduledPlan& scheduled,
                                   const LibraryRequest& request, const std::string& path);

}  // namespace recut::aot

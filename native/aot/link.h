// Links object code to a shared library, by the system's linker.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::aot {

// Exports the symbols that begin with `prefix` and an underscore, and no others. Links the C
// library and its mathematics where the code calls them. Fails where there is no such linker, and
// with the linker's own message.
Result<Done> link_library(std::string_view object, const std::string& prefix,
                          const std::string& linker, const std::string& path);

}  // namespace recut::aot

// Reads the loop form that printer.h describes.
#pragma once

#include <string_view>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

// The kernels of a text, or up to 20 diagnostics with line and column. The parser checks that each
// name is defined once, before its uses, and as the right kind; everything else is the verifier's.
Result<std::vector<Kernel>> parse_kernels(std::string_view text, std::string_view file_name);

}  // namespace recut::loop

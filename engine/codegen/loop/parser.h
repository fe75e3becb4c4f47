// Reads the loop form that printer.h describes.
#pragma once

#include <string_view>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

// The kernels of a text, or every fault found (at most 20), with line and column. What a kernel
// says is the verifier's business: the parser sees to it that names are defined before they are
// used, once, and as what they are used.
Result<std::vector<Kernel>> parse_kernels(std::string_view text, std::string_view file_name);

}  // namespace recut::loop

// Indices as expressions of C++: int where all that is added up fits, else long long.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::cuda {

// The text of a loop variable or a value, as it stands (parts of sums).
using AtomText = std::function<std::string(const loop::Atom&)>;

// "int" or "long long", for numbers up to this.
std::string whole_type(std::int64_t most);

std::string index_code(const loop::Index& index, const loop::Ranges& ranges, const AtomText& text,
                       Helpers& helpers);

}  // namespace recut::cuda

// Indices as C++ expressions: int if all intermediate results fit, else long long.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::cuda {

// Gives the text of a loop variable or a value.
using AtomText = std::function<std::string(const loop::Atom&)>;

// The name of the type for numbers up to `most`: "int" or "long long".
std::string int_type_name(std::int64_t most);

std::string index_code(const loop::Index& index, const loop::Ranges& ranges, const AtomText& text,
                       Helpers& helpers);

}  // namespace recut::cuda

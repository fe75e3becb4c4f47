// Sizes of dimensions that a model leaves open, by the names that it has for them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

using Dimensions = std::map<std::string, std::int64_t>;

// "batch=1,tokens=128". A name may hold commas: it ends where a size does.
Result<Dimensions> read_dimensions(std::string_view words);
std::string write_dimensions(const Dimensions& dimensions);

}  // namespace recut

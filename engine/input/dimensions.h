// Sizes for a model's symbolic dimensions, by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

using Dimensions = std::map<std::string, std::int64_t>;

// Reads "batch=1,tokens=128". A name may hold commas: an entry ends after its size.
Result<Dimensions> read_dimensions(std::string_view text);
std::string write_dimensions(const Dimensions& dimensions);

}  // namespace recut

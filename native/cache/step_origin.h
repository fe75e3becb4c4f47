// The part of a step that a run found in the cache.
#pragma once

#include <cstdint>
#include <string_view>

namespace recut::cache {

enum class StepOrigin : std::uint8_t { compiled, kernels_found, found };

std::string_view name_of(StepOrigin origin);  // "nothing", "kernels" or "step"

}  // namespace recut::cache

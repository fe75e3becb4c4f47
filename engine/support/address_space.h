// The memory that a program of this platform can address.
#pragma once

#include <cstdint>
#include <optional>

namespace recut {

// The limit in bytes, as in WebAssembly; none if only the machine's memory is the limit.
std::optional<std::int64_t> address_space_bytes();

}  // namespace recut

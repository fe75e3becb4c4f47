// The memory that a program of this platform can address.
#pragma once

#include <cstdint>
#include <optional>

namespace recut {

// Bytes; nothing where only the machine's own memory bounds them. A page's WebAssembly has a limit.
std::optional<std::int64_t> address_space_bytes();

}  // namespace recut

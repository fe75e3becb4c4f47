// Raw deflate data (RFC 1951) and the checksum beside it, by zlib.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

// Unpacks data that comes to exactly `size` bytes. Fails if it is damaged or comes to another
// number.
Result<std::string> inflate_raw(std::string_view data, std::int64_t size);

// CRC-32 of zip and gzip.
std::uint32_t crc32_of(std::string_view bytes);

}  // namespace recut

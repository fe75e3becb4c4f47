// Parses and formats bytes, times and counts for users.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

// Parses "1536", "1.5KiB", "6.5 GiB", "3GB": B KB MB GB TB (powers of 1000), KiB MiB GiB TiB
// (powers of 1024), any case. Refuses signs, NaN, unknown units and numbers above 63 bits.
Result<std::int64_t> parse_bytes(std::string_view text);

// Bytes as "6.37 GiB", "812 KiB", "48 B": three significant digits, powers of 1024.
std::string format_bytes(std::int64_t bytes);

// Microseconds as "17.8 ms", "958 µs", "1.20 s".
std::string format_micros(double micros);

// A number with a comma every three digits: "9,700".
std::string format_count(std::int64_t count);

// Signed differences: "+31 µs", "-12.0 MiB", "0".
std::string signed_bytes(std::int64_t bytes);
std::string signed_micros(double micros);

}  // namespace recut

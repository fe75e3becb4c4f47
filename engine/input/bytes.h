// Bytes as they come: from a file, and out of gzip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

// What a file may hold, and what it may unpack to: far more than any graph, far less than memory.
inline constexpr std::int64_t kMaxInputBytes = std::int64_t{1} << 29;
// And a file of a model's values.
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 36;

// The whole file. Fails where it does not exist, can't be read, is a folder or holds more than
// `limit` bytes.
Result<std::string> read_file(const std::string& path, std::int64_t limit = kMaxInputBytes);

bool is_gzip(std::string_view bytes);

// Unpacks gzip (RFC 1952; several members in a row as one). Fails where the data is damaged or cut
// off, or unpacks to more than `limit` bytes, and in builds without zlib.
Result<std::string> gunzip(std::string_view bytes, std::int64_t limit = kMaxInputBytes);

}  // namespace recut

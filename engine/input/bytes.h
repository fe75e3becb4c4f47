// Reads whole files and unpacks gzip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

// Limit of a file's size, packed and unpacked: far more than any graph, far less than memory.
inline constexpr std::int64_t kMaxInputBytes = std::int64_t{1} << 29;
// Limit of a file with a model's weights.
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 36;

// Reads the whole file. Fails if it does not exist, can't be read, is a folder or is larger than
// `limit` bytes.
Result<std::string> read_file(const std::string& path, std::int64_t limit = kMaxInputBytes);

bool is_gzip(std::string_view bytes);

// Unpacks gzip (RFC 1952; several members in a row as one). Fails if the data is damaged, truncated
// or unpacks to more than `limit` bytes.
Result<std::string> gunzip(std::string_view bytes, std::int64_t limit = kMaxInputBytes);

// The first `count` bytes of the unpacked data, or all where there are fewer: enough to tell a
// file's kind. Empty where it can't be unpacked.
std::string gunzip_front(std::string_view bytes, std::size_t count);

}  // namespace recut

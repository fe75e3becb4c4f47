// One entry of the cache as bytes: its contents, with a proof that they are the requested ones.
//
//   "RECUTC\r
// "   8 bytes: no text file begins so, and line-end conversion breaks it
//   key           32 bytes: the name that it was kept under
//   checksum      32 bytes: of key, build and payload
//   build         length in 8 bytes, then the text: who wrote it
//   payload       length in 8 bytes, then the contents
//
// Numbers are little-endian.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "native/cache/digest.h"

namespace recut::cache {

std::string entry_of(const Digest& key, std::string_view build, std::string_view payload);

struct EntryContents {
  std::string build, payload;
};

// Fails where the bytes are no entry, are truncated or changed, or were kept under another key.
Result<EntryContents> read_entry(std::string_view entry, const Digest& key);

}  // namespace recut::cache

// Zip archives (PKWARE's APPNOTE 6.3): members that are stored or deflated, zip64 included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut {

struct ZipMember {
  std::string name;
  std::int64_t at = 0;      // of its data: bytes from the archive's beginning
  std::int64_t packed = 0;  // bytes in the archive
  std::int64_t size = 0;    // bytes unpacked
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
};

// True if the bytes begin as an archive does, an empty one included.
bool is_zip(std::string_view bytes);

// The bytes must outlive it.
class ZipArchive {
 public:
  // Reads the central directory, which alone counts: a writer that streams leaves the sizes in
  // local headers 0. Fails where the archive is cut off or split, a member is encrypted, has an
  // unsafe name or that of another one, lies outside or over another, or claims to unpack to more
  // than deflate can give. Folders are passed over.
  static Result<ZipArchive> open(std::string_view bytes);

  const std::vector<ZipMember>& members() const { return members_; }  // sorted by name
  const ZipMember* find(std::string_view name) const;                 // null if there is none

  // The bytes of a member. Fails if it has more than `limit` bytes, is packed in another way than
  // deflate, or its data is damaged.
  Result<std::string> unpack(const ZipMember& member, std::int64_t limit) const;

 private:
  std::string_view bytes_;
  std::vector<ZipMember> members_;
};

}  // namespace recut

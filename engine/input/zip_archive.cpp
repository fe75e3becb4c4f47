// Reads zip archives above zlib's inflate (zip_archive.h).
//
// The libraries for zip that Debian has (minizip, libzip) are built for the machine alone, not for
// the page, and accept names, overlaps and repeated members that have to be refused here. The
// format without its encryption and its splitting is a few records of fixed size:
//
//   local header, name, extra, data | … | central directory: a record a member | its end
//
// Invariant: once open() succeeds, the data of all members lies inside the archive, and no byte
// belongs to two of them; sizes are those of the central directory. O(members log members).
#include "engine/input/zip_archive.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "engine/input/inflate.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut {
namespace {

constexpr std::uint32_t kLocalMark = 0x04034b50, kCentralMark = 0x02014b50, kEndMark = 0x06054b50;
constexpr std::uint32_t kZip64EndMark = 0x06064b50, kZip64LocatorMark = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr std::size_t kZip64EndBytes = 56, kZip64LocatorBytes = 20;
constexpr std::size_t kMaxCommentBytes = 0xffff;
constexpr std::uint64_t kMaxMembers = 1 << 18;
constexpr std::size_t kMaxNameBytes = 1'000;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kEncrypted = 1 << 0, kMaskedHeaders = 1 << 13;
// Deflate's longest match, 258 bytes, takes two bits at least.
constexpr std::int64_t kMaxRatio = 1'032;

// Little-endian numbers at positions that the caller has checked.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}
std::uint16_t u16_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number_at(bytes, at, 2));
}
std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(number_at(bytes, at, 4));
}
std::uint64_t u64_at(std::string_view bytes, std::size_t at) { return number_at(bytes, at, 8); }

Diagnostic zip_error(std::string_view message) { return error(fmt::format("zip: {}", message)); }

Diagnostic member_error(std::string_view name, std::string_view message) {
  return error(fmt::format("zip: member {}: {}", quote(name), message));
}

struct Directory {
  std::uint64_t at = 0, size = 0, members = 0,
                end = 0;  // `end`: where the records of its end begin
};

// The position of the last record: its comment, if there is one, ends the archive.
std::optional<std::size_t> find_end(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return std::nullopt;
  const std::size_t last = bytes.size() - kEndBytes;
  const std::size_t first = last > kMaxCommentBytes ? last - kMaxCommentBytes : 0;
  for (std::size_t at = last + 1; at-- > first;)
    if (u32_at(bytes, at) == kEndMark && u16_at(bytes, at + 20) == last - at) return at;
  return std::nullopt;
}

Result<Directory> read_zip64_end(std::string_view bytes, std::size_t locator) {
  const std::uint64_t at = u64_at(bytes, locator + 8);
  if (locator < kZip64EndBytes || at > locator - kZip64EndBytes ||
      u32_at(bytes, static_cast<std::size_t>(at)) != kZip64EndMark)
    return zip_error("the record that ends its directory (zip64) isn't where it should be");
  const auto end = static_cast<std::size_t>(at);
  if (u32_at(bytes, end + 16) != 0 || u32_at(bytes, end + 20) != 0)
    return zip_error("it is split into several files, expected one");
  return Directory{u64_at(bytes, end + 48), u64_at(bytes, end + 40), u64_at(bytes, end + 32), at};
}

Result<Directory> find_directory(std::string_view bytes) {
  const auto end = find_end(bytes);
  if (!end)
    return zip_error(fmt::format("its directory is missing: it is cut off after {} bytes",
                                 format_count(static_cast<std::int64_t>(bytes.size()))));
  Directory found{u32_at(bytes, *end + 16), u32_at(bytes, *end + 12), u16_at(bytes, *end + 10),
                  *end};
  const bool split = u16_at(bytes, *end + 4) != 0 || u16_at(bytes, *end + 6) != 0;
  if (*end >= kZip64LocatorBytes && u32_at(bytes, *end - kZip64LocatorBytes) == kZip64LocatorMark) {
    auto large = read_zip64_end(bytes, *end - kZip64LocatorBytes);
    if (!large) return large;
    found = *large;
  } else if (split) {
    return zip_error("it is split into several files, expected one");
  }
  if (found.at > found.end || found.size > found.end - found.at)
    return zip_error("its directory lies outside of it");
  if (found.members > kMaxMembers || found.members > found.size / kCentralBytes)
    return zip_error(
        fmt::format("its directory can't hold the {} members that it counts", found.members));
  return found;
}

// Relative, without steps upwards: a name is a key here, and never opens a file.
bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || name.front() == '/') return false;
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    return c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20;
  });
  if (!plain) return false;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t slash = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, slash - at);
    if (part == ".." || part == "." || (part.empty() && slash != name.size())) return false;
    at = slash + 1;
  }
  return true;
}

// Reads the records of the central directory one after another.
class DirectoryReader {
 public:
  DirectoryReader(std::string_view bytes, const Directory& directory)
      : bytes_(bytes),
        directory_(directory),
        records_(bytes.substr(static_cast<std::size_t>(directory.at),
                              static_cast<std::size_t>(directory.size))) {}

  Result<std::vector<ZipMember>> read() {
    std::vector<ZipMember> members;
    members.reserve(static_cast<std::size_t>(directory_.members));
    for (std::uint64_t i = 0; i < directory_.members; ++i) {
      auto member = read_member();
      if (!member) return member.diagnostics();
      if (!member->name.ends_with('/')) members.push_back(std::move(*member));
    }
    if (Diagnostics overlap = overlaps(); !overlap.empty()) return overlap;
    std::sort(members.begin(), members.end(),
              [](const ZipMember& a, const ZipMember& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < members.size(); ++i)
      if (members[i].name == members[i - 1].name)
        return member_error(members[i].name, "the name stands there twice");
    return members;
  }

 private:
  struct Extent {
    std::uint64_t begin = 0, end = 0;  // from the local header to the data's end
    std::string name;
  };

  Result<ZipMember> read_member() {
    if (records_.size() < kCentralBytes || u32_at(records_, 0) != kCentralMark)
      return zip_error("its directory is damaged");
    const std::size_t name = u16_at(records_, 28), extra = u16_at(records_, 30);
    const std::size_t whole = kCentralBytes + name + extra + u16_at(records_, 32);
    if (whole > records_.size()) return zip_error("its directory is cut off");
    ZipMember member;
    member.name = std::string(records_.substr(kCentralBytes, name));
    member.method = u16_at(records_, 10);
    member.crc = u32_at(records_, 16);
    if (!is_safe_name(member.name))
      return member_error(member.name, "the name is no relative path without '..'");
    if ((u16_at(records_, 8) & (kEncrypted | kMaskedHeaders)) != 0)
      return member_error(member.name, "it is encrypted; write the archive without a password");
    Sizes sizes{u32_at(records_, 24), u32_at(records_, 20), u32_at(records_, 42)};
    if (!widen(records_.substr(kCentralBytes + name, extra), sizes))
      return member_error(member.name, "its sizes (zip64) are damaged");
    records_.remove_prefix(whole);
    return place(std::move(member), sizes);
  }

  struct Sizes {
    std::uint64_t size = 0, packed = 0, local = 0;
  };

  // Replaces sizes of all ones by those of the zip64 field, which has just these, in order.
  static bool widen(std::string_view extra, Sizes& sizes) {
    std::vector<std::uint64_t*> wide;
    for (std::uint64_t* size : {&sizes.size, &sizes.packed, &sizes.local})
      if (*size == 0xffffffff) wide.push_back(size);
    while (!wide.empty()) {
      if (extra.size() < 4) return false;
      const std::size_t count = u16_at(extra, 2);
      if (extra.size() - 4 < count) return false;
      if (u16_at(extra, 0) == 1) {
        if (count < 8 * wide.size()) return false;
        for (std::size_t i = 0; i < wide.size(); ++i) *wide[i] = u64_at(extra, 4 + 8 * i);
        return true;
      }
      extra.remove_prefix(4 + count);
    }
    return true;
  }

  // Finds the data behind the local header, whose name has to be the same.
  Result<ZipMember> place(ZipMember member, const Sizes& sizes) {
    const std::uint64_t limit = directory_.at;
    if (sizes.local > limit || limit - sizes.local < kLocalBytes)
      return member_error(member.name, "it lies outside of the archive");
    const auto at = static_cast<std::size_t>(sizes.local);
    const std::size_t name = u16_at(bytes_, at + 26), extra = u16_at(bytes_, at + 28);
    const std::uint64_t data = sizes.local + kLocalBytes + name + extra;
    if (u32_at(bytes_, at) != kLocalMark || data > limit ||
        bytes_.substr(at + kLocalBytes, name) != member.name)
      return member_error(member.name, "its own header isn't that of the directory");
    if (sizes.packed > limit - data)
      return member_error(member.name, "its data lies outside of the archive");
    const std::uint64_t most =
        member.method == kStored ? sizes.packed : sizes.packed * std::uint64_t{kMaxRatio};
    if (sizes.size > most || (member.method == kStored && sizes.size != sizes.packed))
      return member_error(member.name,
                          fmt::format("its {} bytes can't unpack to {}", sizes.packed, sizes.size));
    member.at = static_cast<std::int64_t>(data);
    member.packed = static_cast<std::int64_t>(sizes.packed);
    member.size = static_cast<std::int64_t>(sizes.size);
    extents_.push_back({sizes.local, data + sizes.packed, member.name});
    return member;
  }

  Diagnostics overlaps() {
    std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.name < b.name;
    });
    for (std::size_t i = 1; i < extents_.size(); ++i)
      if (extents_[i].begin < extents_[i - 1].end)
        return {member_error(extents_[i].name,
                             fmt::format("it overlaps {}", quote(extents_[i - 1].name)))};
    return {};
  }

  std::string_view bytes_;
  Directory directory_;
  std::string_view records_;  // the rest of the directory
  std::vector<Extent> extents_;
};

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

Result<ZipArchive> ZipArchive::open(std::string_view bytes) {
  const auto directory = find_directory(bytes);
  if (!directory) return directory.diagnostics();
  auto members = DirectoryReader(bytes, *directory).read();
  if (!members) return members.diagnostics();
  ZipArchive archive;
  archive.bytes_ = bytes;
  archive.members_ = std::move(*members);
  return archive;
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found =
      std::lower_bound(members_.begin(), members_.end(), name,
                       [](const ZipMember& member, std::string_view n) { return member.name < n; });
  return found != members_.end() && found->name == name ? &*found : nullptr;
}

Result<std::string> ZipArchive::unpack(const ZipMember& member, std::int64_t limit) const {
  if (member.size > limit)
    return member_error(member.name, fmt::format("it has {}, expected at most {}",
                                                 format_bytes(member.size), format_bytes(limit)));
  const std::string_view data =
      bytes_.substr(static_cast<std::size_t>(member.at), static_cast<std::size_t>(member.packed));
  if (member.method != kStored && member.method != kDeflated)
    return member_error(member.name, fmt::format("it is packed by method {}, expected stored (0) "
                                                 "or deflated (8)",
                                                 member.method));
  auto unpacked = member.method == kStored ? Result<std::string>(std::string(data))
                                           : inflate_raw(data, member.size);
  if (!unpacked) return member_error(member.name, unpacked.diagnostics().front().message);
  if (crc32_of(*unpacked) != member.crc)
    return member_error(member.name, "its data is damaged: the checksum is another one");
  return unpacked;
}

}  // namespace recut

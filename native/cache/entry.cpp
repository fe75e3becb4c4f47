#include "native/cache/entry.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace recut::cache {
namespace {

constexpr std::string_view kMagic = "RECUTC\r\n";

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

void append_text(std::string& bytes, std::string_view text) {
  for (std::uint64_t i = 0, length = text.size(); i < 8; ++i, length >>= 8)
    bytes += static_cast<char>(length & 255);
  bytes += text;
}

// Takes parts off the front; none where fewer bytes are left.
class EntryParser {
 public:
  explicit EntryParser(std::string_view bytes) : left_(bytes) {}

  std::optional<std::string_view> take(std::uint64_t length) {
    if (left_.size() < length) return std::nullopt;
    const std::string_view part = left_.substr(0, length);
    left_.remove_prefix(length);
    return part;
  }
  std::optional<std::string_view> take_text() {
    const auto bytes = take(8);
    if (!bytes) return std::nullopt;
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint8_t>((*bytes)[i]);
    return take(length);
  }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace

std::string entry_of(const Digest& key, std::string_view build, std::string_view payload) {
  std::string bytes(kMagic);
  bytes += bytes_of(key);
  bytes += bytes_of(digest_of({bytes_of(key), build, payload}));
  append_text(bytes, build);
  append_text(bytes, payload);
  return bytes;
}

Result<EntryContents> read_entry(std::string_view entry, const Digest& key) {
  EntryParser parts(entry);
  if (parts.take(kMagic.size()) != kMagic) return error("this is no entry of Recut's cache");
  const auto own_key = parts.take(key.bytes.size());
  const auto checksum = parts.take(key.bytes.size());
  const auto build = parts.take_text();
  const auto payload = parts.take_text();
  if (!own_key || !checksum || !build || !payload) return error("the entry is cut off");
  if (!parts.empty()) return error("the entry is longer than it says");
  if (*checksum != bytes_of(digest_of({*own_key, *build, *payload})))
    return error("the entry is damaged: its bytes are not those of its checksum");
  if (*own_key != bytes_of(key)) return error("the entry is another one's: it was kept elsewhere");
  return EntryContents{std::string(*build), std::string(*payload)};
}

}  // namespace recut::cache

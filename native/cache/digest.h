// Content hashes: BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020), in LLVM's
// implementation. The hash is cryptographic, so even chosen contents don't collide.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recut::cache {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  std::string hex() const;  // 64 digits
  static std::optional<Digest> from_hex(std::string_view digits);
  friend bool operator==(const Digest&, const Digest&) = default;
};

// The digest of several texts, each with its length, so that no two lists of texts collide.
Digest digest_of(std::initializer_list<std::string_view> texts);

}  // namespace recut::cache

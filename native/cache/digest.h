// Names for contents: BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020), as LLVM has it.
// Contents that differ have names that differ, even where somebody wants them alike, and 256 bits
// of hash leave no room for accidents.
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

// Of several texts, each with its length, so that no two lists of texts run together.
Digest digest_of(std::initializer_list<std::string_view> texts);

}  // namespace recut::cache

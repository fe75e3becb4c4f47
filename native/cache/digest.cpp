#include "native/cache/digest.h"

#include <llvm-c/blake3.h>

namespace recut::cache {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

static_assert(LLVM_BLAKE3_OUT_LEN == sizeof(Digest::bytes));

}  // namespace

std::string Digest::hex() const {
  std::string digits;
  for (const std::uint8_t byte : bytes) {
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

std::optional<Digest> Digest::from_hex(std::string_view digits) {
  Digest digest;
  if (digits.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t value = kDigits.find(digits[i]);
    if (value == std::string_view::npos) return std::nullopt;
    std::uint8_t& byte = digest.bytes[i / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  return digest;
}

Digest digest_of(std::initializer_list<std::string_view> texts) {
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  for (const std::string_view text : texts) {
    const std::uint64_t length = text.size();
    llvm_blake3_hasher_update(&hasher, &length, sizeof length);
    llvm_blake3_hasher_update(&hasher, text.data(), text.size());
  }
  Digest digest;
  llvm_blake3_hasher_finalize(&hasher, digest.bytes.data(), digest.bytes.size());
  return digest;
}

}  // namespace recut::cache

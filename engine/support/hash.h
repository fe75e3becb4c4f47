// Hashing that gives the same numbers on every platform (std::hash does not).
#pragma once

#include <cstdint>
#include <string_view>

namespace recut {

// One step of splitmix64 (Steele, Lea, Flood 2014) over a running value.
inline std::uint64_t hash_mix(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ull + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// A number uniform in [-1, 1).
inline double hash_signed_unit(std::uint64_t seed, std::uint64_t value) {
  return static_cast<double>(hash_mix(seed, value) >> 11) * 0x1p-52 - 1;
}

// FNV-1a, then mixed into the running value.
inline std::uint64_t hash_text(std::uint64_t seed, std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash_mix(seed, h);
}

}  // namespace recut

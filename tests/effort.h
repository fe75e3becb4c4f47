// How much of what tests repeat is repeated. The sanitizers' build looks for faults of memory and
// of the language, which few cases show as well as many do; what the others compute is the release
// build's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define RECUT_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RECUT_SANITIZED true
#endif
#endif
#ifndef RECUT_SANITIZED
#define RECUT_SANITIZED false
#endif

namespace recut::test {

inline constexpr bool kSanitized = RECUT_SANITIZED;

// So many of `all` seeds, sizes or steps are tried.
constexpr std::uint64_t tries(std::uint64_t all) { return kSanitized ? (all + 7) / 8 : all; }

// The cases that are tried: all, or the first of every four.
template <typename Case>
std::vector<Case> tried(const std::vector<Case>& all) {
  if (!kSanitized) return all;
  std::vector<Case> some;
  for (std::size_t i = 0; i < all.size(); i += 4) some.push_back(all[i]);
  return some;
}

}  // namespace recut::test

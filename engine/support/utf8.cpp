#include "engine/support/utf8.h"

#include <algorithm>
#include <cstdint>

namespace recut {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The end of the code point that begins at `at`.
std::size_t after_code_point(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && continues(text[at])) ++at;
  return at;
}

// Length of the valid sequence at `at`, 0 where there is none (RFC 3629: no overlong forms, no
// surrogates).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return 0;
  std::uint32_t point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[at + i])) return 0;
    point = (point << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  }
  static constexpr std::uint32_t kMinCodePoint[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point < kMinCodePoint[length] || surrogate || point > 0x10ffff ? 0 : length;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shorten_front(std::string_view text, std::size_t width) {
  const std::size_t points = display_width(text);
  if (points <= width || width == 0) return std::string(text);
  std::size_t at = 0;
  for (std::size_t surplus = points - (width - 1); surplus > 0; --surplus)
    at = after_code_point(text, at);
  return "…" + std::string(text.substr(at));
}

std::string shorten_back(std::string_view text, std::size_t width) {
  if (display_width(text) <= width || width == 0) return std::string(text);
  std::size_t at = 0;
  for (std::size_t kept = 0; kept + 1 < width; ++kept) at = after_code_point(text, at);
  return std::string(text.substr(0, at)) + "…";
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace recut

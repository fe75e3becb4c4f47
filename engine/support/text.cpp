#include "engine/support/text.h"

#include <fmt/core.h>

namespace recut {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return escape(text);
  const std::size_t tail = limit / 4;
  return escape(text.substr(0, limit - tail)) + "…" + escape(text.substr(text.size() - tail));
}

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string quote(std::string_view text, std::size_t limit) {
  return "'" + printable(text, limit) + "'";
}

}  // namespace recut

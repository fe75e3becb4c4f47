#include "engine/input/excerpt.h"

#include <algorithm>

#include "engine/input/bytes.h"
#include "engine/support/text.h"
#include "engine/support/utf8.h"

namespace recut {
namespace {

constexpr std::size_t kMaxLineBytes = 84;       // largest excerpt in bytes
constexpr std::size_t kBytesBeforeColumn = 50;  // of these, the most before the column
constexpr std::string_view kEllipsis = "…";

// Moves back to the first byte of a UTF-8 character.
std::size_t whole_character(std::string_view line, std::size_t at) {
  while (at > 0 && at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) --at;
  return at;
}

std::optional<std::string_view> line_of(std::string_view text, std::size_t number) {
  for (std::size_t i = 1; i < number; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// Shows a tab as one blank, so that the caret stays aligned; escapes other control characters.
std::string shown(std::string_view part) {
  std::string out;
  for (const char c : valid_utf8(part)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\t')
      out += ' ';
    else if (code < 0x20 || code == 0x7f)
      out += printable(std::string_view(&c, 1));
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string Excerpt::text() const {
  const std::size_t before = display_width(std::string_view(line).substr(0, caret));
  return "  " + line + "\n  " + std::string(before, ' ') + "^\n";
}

std::optional<Excerpt> excerpt_of(std::string_view text, std::size_t line, std::size_t column) {
  if (line == 0) return std::nullopt;
  const auto whole = line_of(text, line);
  if (!whole) return std::nullopt;
  const std::size_t at = std::min(column == 0 ? 0 : column - 1, whole->size());
  std::size_t begin = 0, end = whole->size();
  if (end > kMaxLineBytes) {
    begin = whole_character(*whole, at > kBytesBeforeColumn ? at - kBytesBeforeColumn : 0);
    end = whole_character(*whole, std::min(end, begin + kMaxLineBytes));
  }
  Excerpt excerpt;
  if (begin > 0) excerpt.line = kEllipsis;
  excerpt.line += shown(whole->substr(begin, at - begin));
  excerpt.caret = excerpt.line.size();
  excerpt.line += shown(whole->substr(at, end - at));
  if (end < whole->size()) excerpt.line += kEllipsis;
  return excerpt;
}

std::string format(const Diagnostics& diagnostics,
                   const std::vector<std::optional<Excerpt>>& excerpts) {
  std::string text;
  for (std::size_t i = 0; i < diagnostics.size(); ++i) {
    text += format(diagnostics[i]) + "\n";
    if (i < excerpts.size() && excerpts[i]) text += excerpts[i]->text();
  }
  return text;
}

std::vector<std::optional<Excerpt>> excerpts_of(std::string_view bytes,
                                                const Diagnostics& diagnostics) {
  std::vector<std::optional<Excerpt>> excerpts(diagnostics.size());
  const bool any = std::any_of(diagnostics.begin(), diagnostics.end(),
                               [](const Diagnostic& one) { return one.line > 0; });
  if (!any) return excerpts;
  std::string unpacked;
  if (is_gzip(bytes)) {
    auto result = gunzip(bytes);
    if (!result) return excerpts;
    unpacked = std::move(*result);
    bytes = unpacked;
  }
  for (std::size_t i = 0; i < diagnostics.size(); ++i)
    excerpts[i] = excerpt_of(bytes, diagnostics[i].line, diagnostics[i].column);
  return excerpts;
}

}  // namespace recut

#include "engine/input/printed_lines.h"

#include <algorithm>

namespace recut {
namespace {

constexpr std::string_view kClass = "class ";
constexpr std::string_view kModuleBase = "(torch.nn.Module):";
constexpr std::size_t kMaxPrefix = 400;  // the search for a log's prefix ends here

bool is_log_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_log_digit);
}

// Takes the text up to the next blank, and the blank.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// Takes "[inner] " or "[inner]"; none if the text doesn't begin so.
std::optional<std::string_view> take_bracket(std::string_view& text) {
  if (!text.starts_with('[')) return std::nullopt;
  const std::size_t end = text.substr(0, kMaxPrefix).find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inner = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return inner;
}

}  // namespace

std::string_view take_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  at = end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

std::optional<ClassHeader> class_header(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view seen = line.substr(0, end + 1);
  if (!seen.ends_with(kModuleBase)) return std::nullopt;
  seen.remove_suffix(kModuleBase.size());
  const std::size_t at = seen.rfind(kClass);
  if (at == std::string_view::npos || seen.find('#') < at) return std::nullopt;
  if (at > 0 && seen[at - 1] != ' ' && seen[at - 1] != '\t') return std::nullopt;
  const std::string_view name = seen.substr(at + kClass.size());
  if (name.empty() || name.find_first_of(" \t\"'(") != std::string_view::npos) return std::nullopt;
  return ClassHeader{name, indent_of(line)};
}

std::optional<LogPrefix> log_prefix(std::string_view line) {
  std::string_view rest = line;
  LogPrefix prefix;
  if (rest.starts_with("[rank")) {
    const auto rank = take_bracket(rest);
    if (!rank || !rest.starts_with(':')) return std::nullopt;
    prefix.rank = *rank;
    rest.remove_prefix(1);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  const std::string_view level = take_word(rest), time = take_word(rest);
  if (level.size() != 5 || std::string_view("VIWEC").find(level[0]) == std::string_view::npos ||
      !all_digits(level.substr(1)) || time.size() < 8 || time[2] != ':' || time[5] != ':')
    return std::nullopt;
  prefix.thread = take_word(rest);
  const std::size_t end = rest.substr(0, kMaxPrefix).find("] ");
  const std::size_t colon = rest.substr(0, std::min(end, rest.size())).rfind(':');
  if (!all_digits(prefix.thread) || end == std::string_view::npos ||
      colon == std::string_view::npos || !all_digits(rest.substr(colon + 1, end - colon - 1)))
    return std::nullopt;
  prefix.rest = rest.substr(end + 2);
  return prefix;
}

std::optional<LogMessage> log_message(std::string_view rest) {
  LogMessage message;
  auto bracket = take_bracket(rest);
  if (bracket && !bracket->starts_with("__")) {
    message.compile_id = *bracket;
    bracket = take_bracket(rest);
  }
  if (!bracket || !bracket->starts_with("__")) return std::nullopt;
  message.tag = bracket->substr(2);
  message.text = rest;
  return message;
}

std::string_view without_colours(std::string_view line, std::deque<std::string>& cleaned) {
  if (line.find('\x1b') == std::string_view::npos) return line;
  std::string& text = cleaned.emplace_back();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
      continue;
    }
    if (i + 1 == line.size() || line[i + 1] != '[') continue;
    for (++i; i + 1 < line.size();) {
      const char c = line[++i];
      if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) break;
    }
  }
  return text;
}

}  // namespace recut

// The lines of a text that PyTorch printed: without colours, a log's prefixes, or the tab before a
// trace's payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace recut {

// One line of a file, and where its text begins there, counted from 1. A column within the text is
// that of the file unless the line has colours: those are no characters of it.
struct PrintedLine {
  std::string_view text;
  std::uint32_t line = 0, column = 1;
};

// Lines of a file, and the text of coloured lines without their escapes. Moving keeps the views
// valid.
struct PrintedLines {
  std::vector<PrintedLine> lines;
  std::deque<std::string> cleaned;
};

// The line that begins at `at`, without its end; `at` moves behind it.
std::string_view take_line(std::string_view text, std::size_t& at);

std::size_t indent_of(std::string_view line);  // blanks and tabs; of a blank line: its length

// The name in "    class NAME(torch.nn.Module):". Logs have a file's name before the word `class`;
// the indentation is that of the line.
struct ClassHeader {
  std::string_view name;
  std::size_t indent = 0;
};
std::optional<ClassHeader> class_header(std::string_view line);

// "V0102 10:00:00.123000 77 torch/x.py:5000] rest", which "[rank0]:" may precede: PyTorch's prefix.
struct LogPrefix {
  std::string_view rank;    // "rank0", or ""
  std::string_view thread;  // 77
  std::string_view rest;    // after "] "
};
std::optional<LogPrefix> log_prefix(std::string_view line);

// "[0/0] [__aot_graphs] text": a log's message behind its prefix. The text begins after one blank.
struct LogMessage {
  std::string_view compile_id;  // "0/0", or ""
  std::string_view tag;         // "aot_graphs"
  std::string_view text;
};
std::optional<LogMessage> log_message(std::string_view rest);

// The line without escape sequences (ESC [ … letter); itself, if it has none.
std::string_view without_colours(std::string_view line, std::deque<std::string>& cleaned);

}  // namespace recut

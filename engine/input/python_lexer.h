// Words of printed Python, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/json.h"
#include "engine/input/printed_lines.h"

namespace recut {

enum class PythonKind : std::uint8_t {
  name,
  number,
  text,      // with its quotes
  symbol,    // an operator or a bracket
  comment,   // outside of brackets; from its '#' to the end of the line
  line_end,  // outside of brackets
  end,
  bad  // a character that Python has no use for, or a text without its end
};

struct PythonToken {
  PythonKind kind = PythonKind::end;
  std::string_view text;
  std::size_t line = 0;      // an index into the lines
  std::uint32_t column = 0;  // within the line's text, from 0

  bool is(std::string_view symbol) const {
    return (kind == PythonKind::symbol || kind == PythonKind::name) && text == symbol;
  }
};

// Within brackets a line's end is a blank; a comment there is kept aside, with the number that
// `mark` had when it was passed.
class PythonLexer {
 public:
  explicit PythonLexer(std::span<const PrintedLine> lines) : lines_(lines) { advance(); }

  const PythonToken& peek() const { return token_; }
  PythonToken take();
  void skip_line();  // to the next line, out of all brackets

  LineColumn place(const PythonToken& token) const;

  struct Aside {
    std::string_view text;
    std::size_t mark;
  };
  std::vector<Aside> asides;
  std::size_t mark = 0;

  // The text of a line from one column to another.
  std::string_view slice(std::size_t line, std::uint32_t from, std::uint32_t to) const {
    return lines_[line].text.substr(from, to - from);
  }

 private:
  void advance();
  void read(std::string_view text);
  std::size_t length_of_text(std::string_view text) const;

  std::span<const PrintedLine> lines_;
  std::size_t line_ = 0, at_ = 0;
  std::int64_t depth_ = 0;  // of brackets
  PythonToken token_;
};

// Names the token in messages: "a string", "the name 'x'".
std::string describe(const PythonToken& token);

// The characters of a string literal. Fails on an escape that Python doesn't have.
bool unquote(std::string_view literal, std::string& characters);

}  // namespace recut

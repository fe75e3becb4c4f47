// Source excerpts for diagnostics: the line and a caret, as compilers print them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut {

struct Excerpt {
  // Printable, on one line; a long line is cut around the column, with "…" at the cuts.
  std::string line;
  std::size_t caret = 0;  // bytes of `line` before the column

  // Two lines of text, indented: the line, and a caret below the column.
  std::string text() const;
};

// `line` and `column` count from 1, the column in bytes. None if the text has no such line.
std::optional<Excerpt> excerpt_of(std::string_view text, std::size_t line, std::size_t column);

// Formats diagnostics as compilers print them, each with its excerpt below it. `excerpts` may be
// shorter than `diagnostics`.
std::string format(const Diagnostics& diagnostics,
                   const std::vector<std::optional<Excerpt>>& excerpts);

// One excerpt for each diagnostic that names a line. `bytes` is the file's content, packed or not.
std::vector<std::optional<Excerpt>> excerpts_of(std::string_view bytes,
                                                const Diagnostics& diagnostics);

}  // namespace recut

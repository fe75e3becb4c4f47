// The lines that diagnostics speak of, fit to be shown: as compilers print them below a message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut {

struct Excerpt {
  // Printable, in one line; of a long one the part around the column, with "…" where it is cut.
  std::string line;
  std::size_t caret = 0;  // bytes of `line` before the column

  // Two lines of text, indented: the line, and a caret below the column.
  std::string text() const;
};

// `line` and `column` as diagnostics count them, from 1, the column in bytes. None where the text
// has no such line.
std::optional<Excerpt> excerpt_of(std::string_view text, std::size_t line, std::size_t column);

// Diagnostics as compilers print them, each with its excerpt below it. `excerpts`: of the first of
// them; the others have none.
std::string format(const Diagnostics& diagnostics,
                   const std::vector<std::optional<Excerpt>>& excerpts);

// One for each diagnostic, none where it names no line. `bytes`: of the file as it stands, packed
// or not.
std::vector<std::optional<Excerpt>> excerpts_of(std::string_view bytes,
                                                const Diagnostics& diagnostics);

}  // namespace recut

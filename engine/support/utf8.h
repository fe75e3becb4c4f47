// Counts and truncates UTF-8 text by code points. Names in files may hold any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recut {

// The width of valid UTF-8 in a terminal, in columns: approximately its number of code points.
std::size_t display_width(std::string_view text);

// At most `width` code points, with "…" where something was cut: at the front (the end of a module
// path tells more) or at the back.
std::string shorten_front(std::string_view text, std::size_t width);
std::string shorten_back(std::string_view text, std::size_t width);

// Replaces every byte that is not part of valid UTF-8 by U+FFFD, for output formats that require
// UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace recut

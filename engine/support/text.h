// Escapes text from files for messages and for the text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recut {

// 'text' in single quotes. Bytes other than printable ASCII become \xNN, and the middle of a text
// longer than `limit` is left out: malformed files may hold any names.
std::string quote(std::string_view text, std::size_t limit = 80);

// quote() without the quotes.
std::string printable(std::string_view text, std::size_t limit = 80);

// The text in double quotes as the text form has strings: with \" \\ \n and \xNN, nothing left out.
std::string string_literal(std::string_view text);

}  // namespace recut

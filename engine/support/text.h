// Text that came from a file, made fit to stand in a message, or in a file again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recut {

// 'text' in single quotes; bytes that are no printable ASCII as \xNN, and the middle of what is
// longer than `limit` characters left out. Names in hostile files hold newlines, escapes and
// megabytes.
std::string quote(std::string_view text, std::size_t limit = 80);

// The same without the quotes.
std::string printable(std::string_view text, std::size_t limit = 80);

// "text" in double quotes as the text form has strings: with \" \\ \n and \xNN, nothing left out.
std::string string_literal(std::string_view text);

}  // namespace recut

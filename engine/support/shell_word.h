// Quoting for shell commands that are shown to users.
#pragma once

#include <string>
#include <string_view>

namespace recut {

// Quotes a word for a POSIX shell: in single quotes if it is empty or has special characters.
std::string shell_word(std::string_view word);

}  // namespace recut

// Words of commands that are shown to people.
#pragma once

#include <string>
#include <string_view>

namespace recut {

// A word of a command as a POSIX shell takes it: in single quotes where a shell would read anything
// in it, or it is empty.
std::string shell_word(std::string_view word);

}  // namespace recut

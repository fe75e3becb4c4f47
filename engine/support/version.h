#pragma once

#include <string_view>

namespace recut {

// The version of Recut as "major.minor.patch", for `--version` and for every
// file that Recut writes and may have to read again.
std::string_view version();

}  // namespace recut

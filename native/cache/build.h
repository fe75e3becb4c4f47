// Identifies this build of Recut: another build doesn't run the steps that this one keeps.
#pragma once

#include <string>

namespace recut::cache {

// The version, and the build id that the linker made from the program's contents: "0.1.0 (1f0c…)".
const std::string& this_build();

}  // namespace recut::cache

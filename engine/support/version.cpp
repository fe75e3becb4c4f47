#include "engine/support/version.h"

namespace recut {

std::string_view version() { return "0.1.0"; }

}  // namespace recut

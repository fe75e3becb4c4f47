// Text that the C library gave away.
#pragma once

#include <string>

#include "native/c_api/recut.h"

namespace recut::native {

// A copy of it; the library has its own back.
inline std::string taken(char* text) {
  const std::string copy = text != nullptr ? text : "";
  recut_text_free(text);
  return copy;
}

}  // namespace recut::native

// Texts that the C library returns.
#pragma once

#include <string>

#include "native/c_api/recut.h"

namespace recut::native {

// A copy of the text; the library's own is freed.
inline std::string taken(char* text) {
  const std::string copy = text != nullptr ? text : "";
  recut_text_free(text);
  return copy;
}

}  // namespace recut::native

// What is said where the cache can't be used or kept: it costs time and nothing else.
#pragma once

#include <string>

#include "engine/support/result.h"

namespace recut::cache {

// Of what Store::find refuses.
inline std::string not_used(const Diagnostics& faults) {
  return faults.front().file + " isn't used: " + faults.front().message;
}

// Of what Store::keep refuses.
inline std::string not_kept(const Diagnostics& faults) {
  const Diagnostic& fault = faults.front();
  return "nothing is kept in the cache: " + (fault.file.empty() ? "" : fault.file + ": ") +
         fault.message;
}

}  // namespace recut::cache

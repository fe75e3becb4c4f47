#include "engine/support/result.h"

#include <fmt/core.h>

namespace recut {

std::string format(const Diagnostic& d) {
  std::string location = d.file;
  if (d.line != 0) location += fmt::format("{}{}", location.empty() ? "" : ":", d.line);
  if (d.line != 0 && d.column != 0) location += fmt::format(":{}", d.column);
  return location.empty() ? fmt::format("error: {}", d.message)
                          : fmt::format("{}: error: {}", location, d.message);
}

std::string format(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += format(d) + "\n";
  return text;
}

}  // namespace recut

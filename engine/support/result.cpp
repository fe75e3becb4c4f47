#include "engine/support/result.h"

#include <fmt/core.h>

namespace recut {

std::string format(const Diagnostic& d) {
  std::string place = d.file;
  if (d.line != 0) place += fmt::format("{}{}", place.empty() ? "" : ":", d.line);
  if (d.line != 0 && d.column != 0) place += fmt::format(":{}", d.column);
  return place.empty() ? fmt::format("error: {}", d.message)
                       : fmt::format("{}: error: {}", place, d.message);
}

std::string format(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += format(d) + "\n";
  return text;
}

}  // namespace recut

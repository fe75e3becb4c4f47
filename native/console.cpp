#include "native/console.h"

#include <fmt/core.h>

#include <string>

namespace recut::native {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kPlain = "\033[0m";

}  // namespace

int Console::complain(const Diagnostics& diagnostics) const {
  say("");
  for (const Diagnostic& d : diagnostics) {
    std::string line = format(d);
    const std::size_t at = line.find("error:");
    if (progress && at != std::string::npos) line.insert(at + 6, kPlain).insert(at, kRed);
    err << line << "\n";
  }
  return kBadInput;
}

void Console::say(std::string_view what) const {
  if (!progress) return;
  err << "\r\033[K" << what;
  err.flush();
}

std::string highlighted(const Console& console, std::string_view text) {
  if (!console.colours) return std::string(text);
  const std::size_t end = text.find('\n');
  return fmt::format("{}{}{}{}", kBold, text.substr(0, end), kPlain,
                     end == std::string_view::npos ? std::string_view() : text.substr(end));
}

}  // namespace recut::native

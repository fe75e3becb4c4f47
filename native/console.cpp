#include "native/console.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/input/excerpt.h"

namespace recut::native {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kPlain = "\033[0m";

// The lines of all diagnostics, each file read once; none for an unreadable file.
std::vector<std::optional<Excerpt>> excerpts_by_file(const Diagnostics& diagnostics) {
  std::map<std::string, std::string> files;
  std::vector<std::optional<Excerpt>> excerpts;
  for (const Diagnostic& d : diagnostics) {
    if (d.line == 0 || d.file.empty()) {
      excerpts.emplace_back();
      continue;
    }
    const auto [file, fresh] = files.try_emplace(d.file);
    if (fresh)
      if (auto bytes = read_file(d.file)) file->second = std::move(*bytes);
    excerpts.push_back(excerpts_of(file->second, {d}).front());
  }
  return excerpts;
}

}  // namespace

int Console::report_error(const Diagnostics& diagnostics) const {
  say("");
  const auto excerpts = excerpts_by_file(diagnostics);
  for (std::size_t i = 0; i < diagnostics.size(); ++i) {
    std::string line = format(diagnostics[i]);
    const std::size_t at = line.find("error:");
    if (progress && at != std::string::npos) line.insert(at + 6, kPlain).insert(at, kRed);
    err << line << "\n";
    if (excerpts[i]) err << excerpts[i]->text();
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

// The metadata of torch.export's nodes (exported_origins.h).
#include "engine/input/exported_origins.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut {

// A type may hold commas, a path holds none.
std::string_view innermost_module(std::string_view stack) {
  const std::size_t last = stack.rfind(';');
  if (last != std::string_view::npos) stack.remove_prefix(last + 1);
  const std::size_t begin = stack.find(',');
  if (begin == std::string_view::npos) return {};
  stack.remove_prefix(begin + 1);
  return stack.substr(0, stack.find(','));
}

std::string innermost_source(std::string_view trace) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  std::string source;
  for (std::size_t at = trace.find(kFile); at != std::string_view::npos;
       at = trace.find(kFile, at + 1)) {
    std::string_view frame = trace.substr(at + kFile.size());
    const std::size_t line = frame.find(kLine);
    const std::size_t end = std::min(frame.find('\n'), frame.size());
    if (line == std::string_view::npos || line > end || frame.starts_with('<')) continue;
    std::string_view file = frame.substr(0, line);
    file.remove_prefix(std::min(file.rfind('/') + 1, file.size()));
    std::string_view rest = frame.substr(line + kLine.size(), end - line - kLine.size());
    const std::size_t in = std::min(rest.find(kIn), rest.size());
    const std::string_view function = rest.substr(std::min(in + kIn.size(), rest.size()));
    source = fmt::format("{}:{} in {}", file, rest.substr(0, in), function);
    std::string_view code = frame.substr(std::min(end + 1, frame.size()));
    code = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(code.find_first_not_of(' '), code.size()));
    if (!code.empty()) source += fmt::format(": {}", code);
  }
  return source;
}

}  // namespace recut

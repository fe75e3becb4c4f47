#include "engine/input/dimensions.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "engine/support/text.h"

namespace recut {
namespace {

std::optional<std::int64_t> size_of_dimension(std::string_view digits) {
  std::int64_t size = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, wrong] = std::from_chars(digits.data(), end, size);
  const bool whole = wrong == std::errc() && stop == end && size >= 0;
  return whole ? std::optional(size) : std::nullopt;
}

}  // namespace

Result<Dimensions> read_dimensions(std::string_view text) {
  Dimensions dimensions;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size() && begin < text.size(); ++at) {
    if (at < text.size() && text[at] != ',') continue;
    const std::string_view one = text.substr(begin, at - begin);
    const std::size_t equals = one.rfind('=');
    const auto size = equals == std::string_view::npos || equals == 0
                          ? std::nullopt
                          : size_of_dimension(one.substr(equals + 1));
    if (!size && at < text.size() && equals == std::string_view::npos) continue;
    if (!size)
      return error(
          fmt::format("{}: expected a dimension's name and its size, as batch=1", quote(one)));
    dimensions[std::string(one.substr(0, equals))] = *size;
    begin = at + 1;
  }
  return dimensions;
}

std::string write_dimensions(const Dimensions& dimensions) {
  std::string text;
  for (const auto& [name, size] : dimensions)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
  return text;
}

}  // namespace recut

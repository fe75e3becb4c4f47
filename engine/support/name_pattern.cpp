#include "engine/support/name_pattern.h"

#include <cstddef>

namespace recut {

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_module(std::string_view pattern, std::string_view module) {
  for (std::size_t begin = 0; begin < module.size();) {
    for (std::size_t end = begin; end != std::string_view::npos;) {
      end = module.find('.', end + 1);
      if (matches_pattern(pattern, module.substr(begin, end - begin))) return true;
    }
    const std::size_t dot = module.find('.', begin);
    if (dot == std::string_view::npos) return false;
    begin = dot + 1;
  }
  return false;
}

}  // namespace recut

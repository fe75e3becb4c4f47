#include "gui/model/name_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace recut::gui {
namespace {

constexpr std::size_t kMaxNamed = 3;

}  // namespace

std::string names_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMaxNamed) text += fmt::format(" and {} more", names.size() - kMaxNamed);
  return text;
}

}  // namespace recut::gui

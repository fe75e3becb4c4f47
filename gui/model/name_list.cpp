#include "gui/model/name_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace recut::gui {
namespace {

constexpr std::size_t kMostNamed = 3;

}  // namespace

std::string names_of(const std::vector<std::string>& names) {
  std::string words;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    words += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNamed) words += fmt::format(" and {} more", names.size() - kMostNamed);
  return words;
}

}  // namespace recut::gui

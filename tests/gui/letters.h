// How much of a name is left where it is cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace recut::gui {

inline constexpr std::ptrdiff_t kLeastLetters = 8;  // by which a name is known

// Letters of words that are shown with "…".
inline std::ptrdiff_t count_letters(const std::string& shown) {
  const auto all = std::count_if(shown.begin(), shown.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  return all - (shown.find("…") != std::string::npos ? 1 : 0);
}

}  // namespace recut::gui

// The typefaces of pictures, as the window has them: the widths of texts, and a font file of the
// letters that one picture uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace recut::gui {

enum class Typeface : std::uint8_t { sans, strong, mono };
inline constexpr std::size_t kTypefaces = 3;

using Letters = std::set<char32_t>;
// The code points of UTF-8; invalid bytes become U+FFFD.
std::vector<char32_t> letters_of(std::string_view utf8);

// The width of a text, in ems. A letter that the typeface lacks counts as one em.
double width_in_ems(Typeface face, std::string_view text);

// An OpenType font of these letters alone, the same bytes on every platform. Letters that the
// typeface lacks are left out.
std::string font_of(Typeface face, const Letters& letters);

}  // namespace recut::gui

// Writes a font: OpenType with outlines in CFF, as small as browsers take it. No hints, no kerning,
// so that words are as wide as their advances add up to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recut::gui {

// A stroke of the pen in font units, y upwards, from where the one before ended.
struct GlyphStroke {
  enum class Kind : std::uint8_t { move, line, curve };
  Kind kind = Kind::line;
  // A curve's two control points and its end; for others, the end alone, in x and y.
  int x1 = 0, y1 = 0, x2 = 0, y2 = 0, x = 0, y = 0;
};

struct FontGlyph {
  char32_t letter = 0;  // below 0xffff; 0: the glyph for letters that are missing
  int advance = 0;
  std::vector<GlyphStroke> strokes;
};

inline constexpr int kFontEm = 1000;            // units of an em
inline constexpr std::size_t kMaxGlyphs = 380;  // the number of CFF's standard names

struct FontShape {
  std::string family;
  int weight = 400;
  int ascender = 0, descender = 0;  // the latter below 0
};

// `glyphs`: the one for missing letters first, then by rising letter; at most kMaxGlyphs.
std::string font_file(const FontShape& shape, const std::vector<FontGlyph>& glyphs);

}  // namespace recut::gui

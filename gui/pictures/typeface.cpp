#include "gui/pictures/typeface.h"

#include <array>
#include <cmath>

#include "engine/support/check.h"
#include "engine/support/utf8.h"
#include "gui/embedded.h"
#include "gui/pictures/font_file.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <imstb_truetype.h>

namespace recut::gui {
namespace {

struct TypefaceRow {
  std::string_view file, family;
  int weight;
};
constexpr std::array<TypefaceRow, kTypefaces> kTypefaceRows = {
    {{"Inter-Regular", "Inter", 400},
     {"Inter-SemiBold", "Inter", 600},
     {"JetBrainsMono-Regular", "JetBrains Mono", 400}}};

class FontReader {
 public:
  explicit FontReader(std::string_view name) {
    const unsigned char* bytes = nullptr;
    for (const EmbeddedFile& file : embedded_fonts())
      if (file.name == name) bytes = file.bytes.data();
    RECUT_CHECK(bytes != nullptr && stbtt_InitFont(&font_, bytes, 0) != 0,
                "a typeface isn't built in");
    em_ = bytes[font_.head + 18] * 256 + bytes[font_.head + 19];
    for (int c = 0; c < 128; ++c) ascii_[static_cast<std::size_t>(c)] = measured(c);
  }

  double advance(char32_t letter) const {
    return letter < 128 ? ascii_[letter] : measured(static_cast<int>(letter));
  }
  bool has(char32_t letter) const {
    return stbtt_FindGlyphIndex(&font_, static_cast<int>(letter)) != 0;
  }

  FontGlyph glyph(char32_t letter) const {
    const int index = letter == 0 ? 0 : stbtt_FindGlyphIndex(&font_, static_cast<int>(letter));
    FontGlyph out{letter, rounded(advance_of(index)), {}};
    stbtt_vertex* vertices = nullptr;
    const int count = stbtt_GetGlyphShape(&font_, index, &vertices);
    int x = 0, y = 0;
    for (int i = 0; i < count; ++i) {
      out.strokes.push_back(stroke(vertices[i], x, y));
      x = vertices[i].x;
      y = vertices[i].y;
    }
    stbtt_FreeShape(&font_, vertices);
    return out;
  }

  FontShape shape(const TypefaceRow& row) const {
    int ascent = 0, descent = 0, gap = 0;
    stbtt_GetFontVMetrics(&font_, &ascent, &descent, &gap);
    return {std::string(row.family), row.weight, rounded(ascent), rounded(descent)};
  }

 private:
  int advance_of(int index) const {
    int advance = 0, bearing = 0;
    stbtt_GetGlyphHMetrics(&font_, index, &advance, &bearing);
    return advance;
  }
  double measured(int letter) const {
    const int index = stbtt_FindGlyphIndex(&font_, letter);
    return index == 0 ? 1 : static_cast<double>(advance_of(index)) / em_;
  }
  int rounded(double units) const { return static_cast<int>(std::lround(units * kFontEm / em_)); }

  // The stroke from (x, y). A parabola is a cubic whose control points stand two thirds of the way
  // to its own.
  GlyphStroke stroke(const stbtt_vertex& v, int x, int y) const {
    using Kind = GlyphStroke::Kind;
    const int to_x = rounded(v.x), to_y = rounded(v.y);
    if (v.type == STBTT_vcubic)
      return {Kind::curve,    rounded(v.cx), rounded(v.cy), rounded(v.cx1),
              rounded(v.cy1), to_x,          to_y};
    if (v.type == STBTT_vcurve)
      return {Kind::curve,
              rounded((x + 2.0 * v.cx) / 3),
              rounded((y + 2.0 * v.cy) / 3),
              rounded((v.x + 2.0 * v.cx) / 3),
              rounded((v.y + 2.0 * v.cy) / 3),
              to_x,
              to_y};
    return {v.type == STBTT_vmove ? Kind::move : Kind::line, 0, 0, 0, 0, to_x, to_y};
  }

  stbtt_fontinfo font_ = {};
  int em_ = kFontEm;
  std::array<double, 128> ascii_ = {};
};

const FontReader& reader_of(Typeface face) {
  static const std::array<FontReader, kTypefaces> kReaders = {FontReader(kTypefaceRows[0].file),
                                                              FontReader(kTypefaceRows[1].file),
                                                              FontReader(kTypefaceRows[2].file)};
  return kReaders[static_cast<std::size_t>(face)];
}

}  // namespace

std::vector<char32_t> letters_of(std::string_view utf8) {
  const std::string text = valid_utf8(utf8);
  std::vector<char32_t> letters;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t letter = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i)
      letter = (letter << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    letters.push_back(letter);
    at += length;
  }
  return letters;
}

double width_in_ems(Typeface face, std::string_view text) {
  const FontReader& reader = reader_of(face);
  double width = 0;
  for (const char32_t letter : letters_of(text)) width += reader.advance(letter);
  return width;
}

std::string font_of(Typeface face, const Letters& letters) {
  const FontReader& reader = reader_of(face);
  std::vector<FontGlyph> glyphs{reader.glyph(0)};
  Letters all = letters;
  all.insert(U' ');  // a font of no letter at all is none
  for (const char32_t letter : all) {
    if (letter == 0 || letter >= 0xffff || glyphs.size() == kMaxGlyphs) continue;
    if (reader.has(letter)) glyphs.push_back(reader.glyph(letter));
  }
  return font_file(reader.shape(kTypefaceRows[static_cast<std::size_t>(face)]), glyphs);
}

}  // namespace recut::gui

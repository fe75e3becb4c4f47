#include "gui/draw/fonts.h"

#include <algorithm>
#include <string_view>

#include "engine/support/check.h"
#include "gui/embedded.h"

namespace recut::gui {
namespace {

// Sizes are of the em, as designers count; ImGui counts from ascender to descender.
struct Row {
  Face face;
  std::string_view file;
  float size;
};
constexpr Row kFontsRows[] = {
    {Face::text, "Inter-Regular", 13},
    {Face::strong, "Inter-SemiBold", 13},
    {Face::small, "Inter-Regular", 11.5f},
    {Face::title, "Inter-SemiBold", 15},
    {Face::mono, "JetBrainsMono-Regular", 12},
    {Face::mono_strong, "JetBrainsMono-SemiBold", 12},
    {Face::mono_small, "JetBrainsMono-Regular", 11},
};

struct Shape {
  float line;     // ascender to descender, in ems
  float capital;  // height of a capital letter, in ems
};
constexpr Shape kInter{1.21f, 0.727f}, kMonoShape{1.32f, 0.73f};

// Latin with accents, Greek, dashes and quotes, arrows, mathematics, keys, shapes.
constexpr ImWchar kRanges[] = {0x20,   0x17f,  0x370,  0x3ff,  0x2010, 0x2026, 0x2030, 0x203a,
                               0x2070, 0x209c, 0x2190, 0x21ff, 0x2200, 0x22ff, 0x2303, 0x2387,
                               0x23ce, 0x23cf, 0x25a0, 0x25ff, 0x2713, 0x2717, 0};

constexpr ImWchar kThinSpaces[] = {0x2009, 0x202f};
constexpr float kThinSpace = 0.2f;  // ems

const EmbeddedFile& file_of(std::string_view name) {
  for (const EmbeddedFile& file : embedded_fonts())
    if (file.name == name) return file;
  RECUT_CHECK(false, "a typeface isn't built in");
  return embedded_fonts().front();
}

bool is_mono(const Row& row) { return row.file.front() == 'J'; }

}  // namespace

void Fonts::build(ImFontAtlas& atlas, float scale) {
  atlas.Clear();
  for (const Row& row : kFontsRows) {
    const EmbeddedFile& file = file_of(row.file);
    const Shape& shape = is_mono(row) ? kMonoShape : kInter;
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    // At large scales a texel is a pixel; at small ones letters stand between pixels.
    config.OversampleH = scale < 2 ? 3 : 1;
    config.OversampleV = 1;
    config.RasterizerMultiply = 1.1f;  // thin strokes keep their weight on a dark background
    const auto face = static_cast<std::size_t>(row.face);
    fonts_[face] = atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(file.bytes.data()),
                                              static_cast<int>(file.bytes.size()),
                                              row.size * shape.line * scale, &config, kRanges);
    capitals_[face] = row.size * shape.capital * scale;
  }
  atlas.Build();
  // Few typefaces have thin spaces; here they are a mere advance.
  for (std::size_t i = 0; i < kFaces; ++i) {
    for (const ImWchar c : kThinSpaces)
      fonts_[i]->AddGlyph(nullptr, c, 0, 0, 0, 0, 0, 0, 0, 0,
                          kFontsRows[i].size * scale * kThinSpace);
    fonts_[i]->BuildLookupTable();
  }
}

}  // namespace recut::gui

// The typefaces, built into the program: Inter for words, JetBrains Mono for names of values,
// numbers and code.
#pragma once

#include <imgui.h>

#include <array>

namespace recut::gui {

enum class Face : unsigned char {
  text,         // 13
  strong,       // 13, headings
  small,        // 11.5, secondary
  title,        // 15, heavier
  mono,         // 12
  mono_strong,  // 12, heavier
  mono_small,   // 11
};
inline constexpr std::size_t kFaces = 7;

class Fonts {
 public:
  // Fills the atlas again, at `scale` pixels for one unit of length.
  void build(ImFontAtlas& atlas, float scale);

  ImFont* operator[](Face face) const { return fonts_[static_cast<std::size_t>(face)]; }
  // Height of a capital letter, in pixels: texts are centred by it.
  float capital(Face face) const { return capitals_[static_cast<std::size_t>(face)]; }

 private:
  std::array<ImFont*, kFaces> fonts_ = {};
  std::array<float, kFaces> capitals_ = {};
};

}  // namespace recut::gui

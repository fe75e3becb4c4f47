#include "gui/draw/prose.h"

#include <cmath>

namespace recut::gui {
namespace {

constexpr float kProseLine = 19, kBetween = 8;  // units: of a line, between paragraphs

// A part of a word in one face; a word is what has no blank in it: "`h1`," is two parts.
struct Part {
  Face face = Face::text;
  std::string letters;
  bool begins_word = false;
};

std::vector<Part> prose_parts_of(std::string_view words) {
  std::vector<Part> parts;
  bool bold = false, name = false, begins = true, fresh = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool mark = words[i] == '`' || words.substr(i, 2) == "**";
    if (mark) {
      bool& face = words[i] == '`' ? name : bold;
      if (words[i] == '*') ++i;
      face = !face;
      fresh = true;
    } else if (words[i] == ' ') {
      begins = true;
    } else {
      const Face face = name ? Face::mono : bold ? Face::strong : Face::text;
      if (begins || fresh || parts.empty()) parts.push_back({face, "", begins});
      parts.back().letters += words[i];
      begins = fresh = false;
    }
  }
  return parts;
}

}  // namespace

Prose::Prose(const Ui& ui, const std::vector<std::string>& paragraphs, float width)
    : paragraphs_(paragraphs) {
  for (const std::string& paragraph : paragraphs) {
    if (!runs_.empty()) height_ += std::round(ui.px(kBetween));
    add(ui, paragraph, width);
  }
}

void Prose::add(const Ui& ui, std::string_view paragraph, float width) {
  const float line = std::round(ui.px(kProseLine)), blank = ui.width(" ", Face::text);
  const std::vector<Part> parts = prose_parts_of(paragraph);
  float x = 0;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i + 1;
    while (end < parts.size() && !parts[end].begins_word) ++end;
    float wide = 0;
    for (std::size_t k = i; k < end; ++k) wide += ui.width(parts[k].letters, parts[k].face);
    const float from = x > 0 ? x + blank : 0;
    const bool fits = x == 0 || from + wide <= width;
    if (!fits) height_ += line;
    x = fits ? from : 0;
    for (; i < end; ++i) {
      runs_.push_back({parts[i].face, parts[i].letters, x, height_ + line / 2});
      x += ui.width(parts[i].letters, parts[i].face);
    }
  }
  height_ += line;
}

void Prose::draw(const Ui& ui, ImVec2 corner, Colour colour) const {
  for (const Run& run : runs_)
    ui.label({corner.x + run.x, corner.y + run.y}, run.words, run.face, colour);
  for (const std::string& paragraph : paragraphs_)
    ui.items.add_text(paragraph, rect_at(corner, {1, 1}));
}

}  // namespace recut::gui

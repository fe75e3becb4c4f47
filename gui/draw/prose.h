// Prose: paragraphs of words in lines, with **bold** words and `names` among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/draw/ui.h"

namespace recut::gui {

class Prose {
 public:
  // Breaks the paragraphs into lines of at most `width` pixels. A single word that is wider stands
  // in a line of its own.
  Prose(const Ui& ui, const std::vector<std::string>& paragraphs, float width);

  float height() const { return height_; }
  void draw(const Ui& ui, ImVec2 corner, Colour colour) const;

 private:
  struct Run {
    Face face = Face::text;
    std::string words;
    float x = 0, y = 0;  // of the middle of its left end, from the corner
  };
  void add(const Ui& ui, std::string_view paragraph, float width);

  std::vector<Run> runs_;
  std::vector<std::string> paragraphs_;
  float height_ = 0;
};

}  // namespace recut::gui

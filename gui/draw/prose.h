// Prose: paragraphs of words in lines, with **bold** words and `names` among them; and with words
// that are explained to the pointer: "[peak]", or "[the peak: peak]" where the term is another.
#pragma once

#include <functional>
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
  // A word with a term has dots below it. `meaning` of its term is shown beside the pointer.
  using Meaning = std::function<std::string(std::string_view term)>;
  void draw(Ui& ui, ImVec2 corner, Colour colour, const Meaning& meaning = nullptr) const;

 private:
  struct Run {
    Face face = Face::text;
    std::string text;
    std::string term;    // "": it isn't explained
    float x = 0, y = 0;  // of the middle of its left end, from the corner
  };
  void add(const Ui& ui, std::string_view paragraph, float width);

  std::vector<Run> runs_;
  std::vector<std::string> paragraphs_;
  float height_ = 0;
};

}  // namespace recut::gui

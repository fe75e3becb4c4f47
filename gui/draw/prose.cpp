#include "gui/draw/prose.h"

#include <algorithm>
#include <cmath>

#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kProseLine = 19, kBetween = 8;  // units: of a line, between paragraphs

// A part of a word in one face; a word has no blank in it: "`h1`," is two parts.
struct Part {
  Face face = Face::text;
  std::string letters;
  bool begins_word = false;
  std::string term;
};

class PartReader {
 public:
  explicit PartReader(std::string_view text) : text_(text) {}

  std::vector<Part> read() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '`' || text_.substr(i, 2) == "**") {
        mark(i);
      } else if (!name_ && text_[i] == '[') {
        begin_term(i);
      } else if (!name_ && i == term_ends_ && !term_.empty()) {
        i = term_closes_;
        term_.clear();
        fresh_ = true;
      } else if (text_[i] == ' ') {
        begins_ = true;
      } else {
        letter(text_[i]);
      }
    }
    return std::move(parts_);
  }

 private:
  void mark(std::size_t& i) {
    bool& face = text_[i] == '`' ? name_ : bold_;
    if (text_[i] == '*') ++i;
    face = !face;
    fresh_ = true;
  }

  // Begins a word with a term: "[peak]", "[the peak: peak]".
  void begin_term(std::size_t at) {
    term_closes_ = std::min(text_.find(']', at), text_.size());
    const std::string_view inner = text_.substr(at + 1, term_closes_ - at - 1);
    const std::size_t colon = inner.find(": ");
    const bool other = colon != std::string_view::npos;
    term_ = other ? inner.substr(colon + 2) : inner;
    term_ends_ = at + 1 + (other ? colon : inner.size());
    fresh_ = true;
  }

  void letter(char c) {
    const Face face = name_ ? Face::mono : bold_ ? Face::strong : Face::text;
    if (begins_ || fresh_ || parts_.empty()) parts_.push_back({face, "", begins_, term_});
    parts_.back().letters += c;
    begins_ = fresh_ = false;
  }

  const std::string_view text_;
  std::vector<Part> parts_;
  bool bold_ = false, name_ = false, begins_ = true, fresh_ = true;
  std::string term_;                             // "": outside of them
  std::size_t term_ends_ = 0, term_closes_ = 0;  // its text, and its mark
};

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
  const std::vector<Part> parts = PartReader(paragraph).read();
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
      runs_.push_back({parts[i].face, parts[i].letters, parts[i].term, x, height_ + line / 2});
      x += ui.width(parts[i].letters, parts[i].face);
    }
  }
  height_ += line;
}

void Prose::draw(Ui& ui, ImVec2 corner, Colour colour, const Meaning& meaning) const {
  std::string_view last;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    const ImVec2 at{corner.x + run.x, corner.y + run.y};
    const float wide = ui.label(at, run.text, run.face, colour);
    if (run.term.empty() || !meaning) continue;
    const float below = std::round(at.y + ui.px(8)), dot = ui.whole(1);
    ui.dashed_line({at.x, below}, {at.x + wide, below}, ui.theme.selection, dot, dot, 2 * dot);
    const std::string text = meaning(run.term);
    const std::string label = "term " + run.term + (run.term == last ? std::to_string(i) : "");
    last = run.term;
    (void)interact(ui, label, ItemKind::figure,
                   {at.x, at.y - ui.px(9), at.x + wide, at.y + ui.px(9)}, true, text);
    hint(ui, text);
  }
  for (const std::string& paragraph : paragraphs_)
    ui.items.add_text(paragraph, rect_at(corner, {1, 1}));
}

}  // namespace recut::gui

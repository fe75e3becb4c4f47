// Words on several lines, and notices that end.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "gui/draw/ui.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// A Ui without a window: words have widths.
struct Wrapping {
  Wrapping() : context(ImGui::CreateContext(&atlas)) { fonts.build(atlas, 1); }
  ~Wrapping() { ImGui::DestroyContext(context); }

  std::vector<std::string> lines(std::string_view text, float width) {
    const auto found = wrapped_lines(ui, text, width);
    CHECK(wrapped_height(ui, text, width) ==
          static_cast<float>(std::max<std::size_t>(1, found.size())) *
              ui.fonts[Face::small]->FontSize);
    return {found.begin(), found.end()};
  }
  float width(std::string_view text) const { return ui.width(text, Face::small); }

  ImFontAtlas atlas;
  ImGuiContext* context;
  Fonts fonts;
  Items items;
  Ui ui{kDark, fonts, 1, items};
};

}  // namespace

TEST_CASE("wrapping: lines break at blanks and nowhere else", "[gui]") {
  Wrapping wrapping;
  const std::string text = "16 now recomputed (1.24 GiB), 23 saved";
  const float narrow = wrapping.width("16 now recomputed (1.");
  CHECK(wrapping.lines(text, narrow) ==
        std::vector<std::string>{"16 now recomputed", "(1.24 GiB), 23 saved"});
  CHECK(wrapping.lines(text, wrapping.width(text)) == std::vector{text});
  CHECK(wrapping.lines("", 100).empty());
  CHECK(wrapping.lines("one\ntwo", 1000) == std::vector<std::string>{"one", "two"});
  CHECK(wrapping.lines("one\n\ntwo", 1000) == std::vector<std::string>{"one", "", "two"});
}

TEST_CASE("wrapping: a word that is wider than a line breaks between letters", "[gui]") {
  Wrapping wrapping;
  std::string all;
  const std::string word = "µµµµµµµµµµµµ";
  for (const std::string& line : wrapping.lines(word, wrapping.width("µµµµµ"))) {
    CHECK(line.size() % 2 == 0);  // two bytes a letter
    CHECK(line.size() <= 10);
    all += line;
  }
  CHECK(all == word);
  CHECK(wrapping.lines(word, 0).size() == word.size() / 2);  // one letter at least
}

TEST_CASE("window: what was wrong with a command is over once it is done", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const auto typed = [&](const char* text) {
    return window.play(std::string("click \"trade-off/budget field\"\nkey Ctrl+A\ntype ") + text +
                       "\nkey Enter\n");
  };
  REQUIRE(typed("eight") == "");
  CHECK(window.state("notice").find("eight") != std::string::npos);
  REQUIRE(typed("nine") == "");
  CHECK(window.app.notices.size() == 1);
  CHECK(window.state("notice").find("nine") != std::string::npos);
  REQUIRE(typed("95%") == "");
  CHECK(window.state("notice") == "");
}

}  // namespace recut::gui

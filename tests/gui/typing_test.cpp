// Text that is typed faster than frames are drawn.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// As backends tell of it: the modifiers before each key, the text between down and up.
void key_down(Window& window, ImGuiKey key, bool shift = false) {
  window.backend.give(KeyChanged{ImGuiMod_Shift, shift});
  window.backend.give(KeyChanged{key, true});
}
void key_up(Window& window, ImGuiKey key) { window.backend.give(KeyChanged{key, false}); }

void type_letter(Window& window, char letter) {
  const bool capital = letter >= 'A' && letter <= 'Z';
  const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (letter - (capital ? 'A' : 'a')));
  if (capital) key_down(window, ImGuiKey_LeftShift, true);
  key_down(window, key, capital);
  window.backend.give(TextTyped{std::string(1, letter)});
  key_up(window, key);
  if (!capital) return;
  window.backend.give(KeyChanged{ImGuiMod_Shift, false});
  key_up(window, ImGuiKey_LeftShift);
}

void type_letters(Window& window, std::string_view letters) {
  for (const char letter : letters) type_letter(window, letter);
}

std::string typed_in_palette(const Window& window) {
  const Item* field = window.app.items.find("palette/typed");
  return field != nullptr ? field->value : "no field";
}

int frames_until_typed(Window& window, std::string_view requested) {
  const int before = window.app.frames();
  for (int ticks = 0; ticks < 60 && typed_in_palette(window) != requested; ++ticks) window.tick();
  return window.app.frames() - before;
}

TEST_CASE("typing: forty characters take a few frames", "[gui]") {
  Window window(bare_options());
  REQUIRE(window.app.run("palette.open").ok());
  window.settle();
  const std::string forty = "abcdefghijABCDEFGHIJabcdeFGHIJabcdefghij";
  type_letters(window, forty);
  CHECK(frames_until_typed(window, forty) <= 4);
  CHECK(typed_in_palette(window) == forty);
  CHECK(window.state("typed") == forty);
}

TEST_CASE("typing: keys act where they stand among the text", "[gui]") {
  Window window(bare_options());
  REQUIRE(window.app.run("palette.open").ok());
  window.settle();
  type_letters(window, "abcx");
  key_down(window, ImGuiKey_Backspace);
  key_up(window, ImGuiKey_Backspace);
  type_letters(window, "dG");
  key_down(window, ImGuiKey_LeftArrow);
  key_up(window, ImGuiKey_LeftArrow);
  type_letters(window, "ef");
  CHECK(frames_until_typed(window, "abcdefG") <= 12);
  CHECK(typed_in_palette(window) == "abcdefG");
  // Shift and an arrow select, and what is typed then takes the place of it.
  key_down(window, ImGuiKey_LeftShift, true);
  key_down(window, ImGuiKey_RightArrow, true);
  key_up(window, ImGuiKey_RightArrow);
  window.backend.give(KeyChanged{ImGuiMod_Shift, false});
  key_up(window, ImGuiKey_LeftShift);
  type_letters(window, "h");
  frames_until_typed(window, "abcdefh");
  CHECK(typed_in_palette(window) == "abcdefh");
}

TEST_CASE("typing: text behind the key that opens a field is the field's", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  window.backend.give(KeyChanged{ImGuiMod_Ctrl, true});
  window.backend.give(KeyChanged{ImGuiKey_K, true});
  key_up(window, ImGuiKey_K);
  window.backend.give(KeyChanged{ImGuiMod_Ctrl, false});
  type_letters(window, "theme");
  frames_until_typed(window, "theme");
  CHECK(typed_in_palette(window) == "theme");
}

}  // namespace
}  // namespace recut::gui

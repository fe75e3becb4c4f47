// Words beside the pointer: they come while it rests, and go while one works by keyboard.
#include <imgui_internal.h>

#include <catch2/catch_test_macros.hpp>
#include <string_view>
#include <utility>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// Whether words stood beside the pointer in the last frame.
bool sees_hint() {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->Active && !window->Hidden && (window->Flags & ImGuiWindowFlags_Tooltip) != 0)
      return true;
  return false;
}

void rest_at(Window& window, std::string_view label) {
  CAPTURE(label);
  const Item* item = window.app.items.find(label);
  REQUIRE(item != nullptr);
  const ImVec2 at = item->rect.centre();
  window.backend.give(PointerMoved{at.x - 2, at.y});
  window.tick();
  window.backend.give(PointerMoved{at.x, at.y});
  for (int i = 0; i < 60; ++i) window.tick();
}

TEST_CASE("hints: they go while keys are used, until the pointer moves", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  for (const char* label : {"bar/help", "values/copy", "memory/steps"}) {
    CAPTURE(label);
    rest_at(window, label);
    CHECK(sees_hint());
    key(window, ImGuiKey_F6);  // any key: the focus goes on
    for (int i = 0; i < 60; ++i) window.tick();
    CHECK_FALSE(sees_hint());
    rest_at(window, label);
    CHECK(sees_hint());
  }
}

// Arrows walk through the steps; the tooltip of the step under the pointer would lie over them.
TEST_CASE("hints: the timeline's tooltip goes, whosever key it was", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const auto sees_tooltip = [&] { return window.app.items.find("memory/step") != nullptr; };
  for (const auto& [panel, which] :
       {std::pair("memory", ImGuiKey_RightArrow), std::pair("graph", ImGuiKey_DownArrow),
        std::pair("values", ImGuiKey_F6)}) {
    CAPTURE(panel);
    window.app.give_focus(panel);
    rest_at(window, "memory/steps");
    CHECK(sees_tooltip());
    key(window, which);
    window.settle();
    CHECK_FALSE(sees_tooltip());
  }
}

}  // namespace
}  // namespace recut::gui

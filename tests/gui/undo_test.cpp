// What is one step to undo: all that one hold of a button or a key does.
#include <catch2/catch_test_macros.hpp>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct UndoWindow : Window {
  UndoWindow() : Window(bare_options()) {
    app.open("sample:tiny_conv");
    settle();
    REQUIRE(app.run("budget.least").ok());  // all other plans take more
    settle();
    first = budget();
  }

  std::int64_t budget() const { return app.document()->plan_settings.budget_bytes; }
  void move(float x, float y) {
    backend.give(PointerMoved{x, y});
    tick();
  }
  void button(bool down) {
    backend.give(PointerButton{0, down});
    tick();
    tick();
  }
  void grab() {
    const Item* line = app.items.find("trade-off/budget");
    REQUIRE(line != nullptr);
    at = line->rect.centre();
    move(at.x, at.y);
    tick();
    button(true);
  }
  void drag_by(float pixels) {
    for (int i = 0; i < 4; ++i) move(at.x += pixels / 4, at.y);
  }
  // Until the budget is what it was at first.
  int steps_to_undo() {
    int steps = 0;
    while (budget() != first && app.run("edit.undo").ok()) ++steps;
    return steps;
  }

  std::int64_t first = 0;
  ImVec2 at;
};

}  // namespace

TEST_CASE("undo: two drags that follow fast on each other are two steps", "[gui][undo]") {
  UndoWindow window;
  window.grab();
  window.drag_by(-20);
  window.button(false);
  const std::int64_t between = window.budget();
  window.grab();
  window.drag_by(12);
  window.button(false);
  REQUIRE(between != window.first);
  REQUIRE(window.budget() != between);
  REQUIRE(window.app.run("edit.undo").ok());
  CHECK(window.budget() == between);
  REQUIRE(window.app.run("edit.undo").ok());
  CHECK(window.budget() == window.first);
}

TEST_CASE("undo: a drag that rests for seconds is one step", "[gui][undo]") {
  UndoWindow window;
  window.grab();
  for (const float pixels : {-8.0f, -8.0f, 6.0f, -12.0f}) {
    const std::int64_t before = window.budget();
    window.drag_by(pixels);
    CHECK(window.budget() != before);
    for (int i = 0; i < 150; ++i) window.tick();
  }
  window.button(false);
  window.settle();
  REQUIRE(window.budget() != window.first);
  REQUIRE(window.app.run("edit.undo").ok());
  CHECK(window.budget() == window.first);
}

TEST_CASE("undo: a key that is held is one step, pressed twice two", "[gui][undo]") {
  UndoWindow window;
  const auto press = [&](bool down) {
    window.backend.give(KeyChanged{ImGuiKey_RightBracket, down});
    if (down) window.backend.give(TextTyped{"]"});
    window.tick();
  };
  for (int repeat = 0; repeat < 3; ++repeat) press(true);
  press(false);
  REQUIRE(window.budget() != window.first);
  CHECK(window.steps_to_undo() == 1);
  CHECK(window.budget() == window.first);
  for (int time = 0; time < 2; ++time) {
    press(true);
    press(false);
  }
  CHECK(window.steps_to_undo() == 2);
  CHECK(window.budget() == window.first);
}

TEST_CASE("undo: the hill's line under a held arrow key is one step", "[gui][undo]") {
  UndoWindow window;
  window.app.items.focused = "memory/budget";
  window.app.items.focus_visible = true;
  window.tick();
  for (int repeat = 0; repeat < 26; ++repeat) {  // ImGui repeats it three times
    window.backend.give(KeyChanged{ImGuiKey_RightArrow, true});
    window.tick();
  }
  window.backend.give(KeyChanged{ImGuiKey_RightArrow, false});
  window.tick();
  const double percent =
      static_cast<double>(window.app.document()->basis->baseline_cost.peak_bytes) / 100;
  CHECK(static_cast<double>(window.budget() - window.first) > 1.5 * percent);
  CHECK(window.steps_to_undo() == 1);
  CHECK(window.budget() == window.first);
}

TEST_CASE("undo: a drag that is taken back while it goes on is a step anew", "[gui][undo]") {
  UndoWindow window;
  window.grab();
  window.drag_by(-16);
  REQUIRE(window.app.run("edit.undo").ok());
  CHECK(window.budget() == window.first);
  window.drag_by(-8);
  window.drag_by(-8);
  window.button(false);
  REQUIRE(window.budget() != window.first);
  CHECK(window.steps_to_undo() == 1);
  CHECK(window.budget() == window.first);
}

TEST_CASE("undo: a window that lost the focus has let go of all", "[gui][undo]") {
  UndoWindow window;
  window.backend.give(KeyChanged{ImGuiKey_RightBracket, true});
  window.backend.give(TextTyped{"]"});
  window.tick();
  window.backend.give(FocusChanged{false});
  window.tick();
  window.backend.give(FocusChanged{true});
  window.backend.give(KeyChanged{ImGuiKey_RightBracket, true});
  window.backend.give(TextTyped{"]"});
  window.tick();
  CHECK(window.steps_to_undo() == 2);
}

}  // namespace recut::gui

// The lesson's popup by the Enter key alone, and where it stands: beside what it names, on a phone
// too.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "gui/app/lesson_figure.h"
#include "gui/app/lessons.h"
#include "tests/effort.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr float kAroundPoint = 12, kLeastAround = 28;  // units: its ring, and a little more
constexpr float kBarAbove = 40, kPopupMargin = 14;

// What the step speaks of and can be seen: what it points at, what it keeps clear, what it names.
std::vector<Rect> spoken_of(const Window& window, const LessonStep& step) {
  std::vector<std::string> labels = step.points;
  labels.insert(labels.end(), step.clear.begin(), step.clear.end());
  for (const std::string& text : all_texts(step))
    for (const std::string& name : values_in(filled_in(window.app, text)))
      labels.push_back("graph/node " + name);
  std::vector<Rect> found;
  for (const std::string& label : labels) {
    const Item* item = window.app.items.find(label);
    if (item != nullptr && item->visible()) found.push_back(item->rect);
  }
  return found;
}

bool meets_some(const Rect& popup, const std::vector<Rect>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Rect& r) { return popup.meets(r); });
}

// True if a popup of that size could stand in the window without hiding any of it.
bool has_place(const Window& window, ImVec2 size, const std::vector<Rect>& others) {
  const Extent extent = window.backend.extent();
  const float step = 3;
  std::vector<Rect> around;
  for (const Rect& rect : others)
    around.push_back(rect_around(rect.centre(), std::max(rect.width() + kAroundPoint, kLeastAround),
                                 std::max(rect.height() + kAroundPoint, kLeastAround)));
  const float right = static_cast<float>(extent.width) - kPopupMargin - size.x;
  const float bottom = static_cast<float>(extent.height) - kPopupMargin - size.y;
  for (float y = kBarAbove + kPopupMargin; y <= bottom; y += step)
    for (float x = kPopupMargin; x <= right; x += step)
      if (!meets_some(rect_at({x, y}, size), around)) return true;
  return false;
}

// Returns whether there was a place beside all that the step speaks of.
bool check_place(const Window& window, const LessonStep& step) {
  CAPTURE(step.title);
  const Item* popup = window.app.items.find("lesson/popup");
  REQUIRE(popup != nullptr);
  const std::vector<Rect> others = spoken_of(window, step);
  if (!has_place(window, popup->rect.size(), others)) return false;
  CHECK_FALSE(meets_some(popup->rect, others));
  return !others.empty();
}

// A node that is pointed at is on the screen where the graph is.
void check_points(const Window& window, const LessonStep& step) {
  const Item* canvas = window.app.items.find("graph/canvas");
  if (canvas == nullptr || !canvas->visible()) return;
  for (const std::string& label : step.points) {
    if (label.rfind("graph/node ", 0) != 0) continue;
    CAPTURE(step.title, label);
    const Item* item = window.app.items.find(label);
    REQUIRE(item != nullptr);
    CHECK(item->visible());
    CHECK(item->rect.meets(canvas->rect));
  }
}

int follow_popups(const Lesson& lesson, Extent extent, bool fingers) {
  CAPTURE(lesson.name, extent.width);
  NullBackend backend = Window::sample_backend();
  backend.fingers = fingers;
  backend.resize(extent, 1);
  Window window(bare_options(), std::move(backend));
  REQUIRE(window.app.run("lesson.open", lesson.name).ok());
  int beside = 0;
  for (const LessonStep& step : lesson.steps) {
    window.settle();
    check_points(window, step);
    beside += check_place(window, step) ? 1 : 0;
    if (window.state("task") == "open") {
      REQUIRE(window.app.run("lesson.show").ok());
      window.settle();
      beside += check_place(window, step) ? 1 : 0;
    }
    REQUIRE(window.app.run("lesson.next").ok());
  }
  return beside;
}

TEST_CASE("lesson popup: it hides nothing that it names where there is a place", "[gui]") {
  for (const auto& lesson : LessonShelf::built_in().all("en")) {
    CHECK(follow_popups(*lesson, {1280, 800}, false) > 0);
    if (!test::kSanitized) CHECK(follow_popups(*lesson, {1680, 1050}, false) > 0);
  }
}

TEST_CASE("lesson popup: on a phone, too", "[gui]") {
  int beside = 0;
  for (const auto& lesson : LessonShelf::built_in().all("en"))
    beside += follow_popups(*lesson, {390, 844}, true);
  CHECK(beside > 5);
}

TEST_CASE("lesson popup: Enter begins a lesson, goes through it, and begins the next", "[gui]") {
  const auto lessons = LessonShelf::built_in().all("en");
  REQUIRE(lessons.size() > 1);
  const Lesson &first = *lessons[0], &second = *lessons[1];
  Window window(bare_options());
  window.app.items.keep_texts = true;
  REQUIRE(window.app.run("lesson.list").ok());
  window.settle();
  key(window, ImGuiKey_Enter);
  window.settle();
  const std::string& enter = LessonShelf::built_in().word("enter", "en");
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    CAPTURE(i);
    const std::string here = fmt::format("{} {}", first.name, i + 1);
    CHECK(window.state("lesson") == here);
    if (window.state("task") == "open") {
      // It isn't due, and the popup doesn't promise it.
      CHECK(window.app.items.find_text(enter, "lesson") == nullptr);
      key(window, ImGuiKey_Enter);
      window.settle();
      CHECK(window.state("lesson") == here);
      REQUIRE(window.app.run("lesson.show").ok());
      window.settle();
    }
    key(window, ImGuiKey_Enter);
    window.settle();
  }
  CHECK(window.state("lesson").empty());
  CHECK(was_followed(window.app, first.name));
  CHECK(window.state("overlay") == "lessons");
  key(window, ImGuiKey_Enter);
  window.settle();
  CHECK(window.state("lesson") == second.name + " 1");
}

}  // namespace
}  // namespace recut::gui

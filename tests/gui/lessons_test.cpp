// Every lesson, followed to its end by its own `show` commands on the null backend; and that
// translations say the same as the first language.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "gui/app/lesson_figure.h"
#include "gui/app/lessons.h"
#include "tests/effort.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

const LessonShelf& shelf() { return LessonShelf::built_in(); }

std::string label_of(const Intent& intent) { return intent.command + " " + intent.argument; }

std::string fault_of(const Window& window) {
  for (const Notice& notice : window.app.notices)
    if (notice.fault) return notice.text;
  return "";
}

float area_of(const Rect& rect) { return rect.empty() ? 0 : rect.width() * rect.height(); }

// Its targets can be seen, the popup too, in the window and beside it.
void check_popup(const Window& window, const LessonStep& step) {
  const Item* popup = window.app.items.find("lesson/popup");
  REQUIRE(popup != nullptr);
  const Extent extent = window.backend.extent();
  const Rect whole{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height)};
  CHECK(popup->rect.within(whole).size().x == popup->rect.size().x);
  CHECK(popup->rect.within(whole).size().y == popup->rect.size().y);
  for (const std::string& label : step.points) {
    CAPTURE(label);
    const Item* item = window.app.items.find(label);
    REQUIRE(item != nullptr);
    CHECK(item->visible());
    // What takes a third of the window leaves no room beside it; of that most can be seen.
    if (area_of(item->rect) < area_of(whole) / 3)
      CHECK_FALSE(item->rect.meets(popup->rect));
    else
      CHECK(area_of(item->rect.within(popup->rect)) < area_of(item->rect) / 3);
  }
  for (const std::string& label : step.clear) {
    CAPTURE(label);
    const Item* item = window.app.items.find(label);
    REQUIRE(item != nullptr);
    CHECK_FALSE(item->rect.meets(popup->rect));
  }
  for (const std::string& text : all_texts(step))
    for (const std::string& name : values_in(filled_in(window.app, text))) {
      CAPTURE(name);
      const Item* item = window.app.items.find("graph/node " + name);
      if (item != nullptr && item->visible()) CHECK_FALSE(item->rect.meets(popup->rect));
    }
}

void check_figures(const App& app, const std::string& text) {
  for (const std::string& name : figures_in(text)) {
    CAPTURE(name);
    const auto figure = lesson_figure(app, name);
    REQUIRE(figure.has_value());
    CHECK(figure->text != "–");
  }
}

// Figures are known, and stand to each other as the sentences say.
void check_prose(const App& app, const LessonStep& step) {
  for (const std::string& text : all_texts(step)) check_figures(app, text);
  for (const Condition& condition : step.holds) {
    const auto& requested = condition.requested;
    CAPTURE(condition.name, requested.front(), requested.back());
    const auto left = lesson_figure(app, condition.name),
               right = lesson_figure(app, requested.back());
    CAPTURE(left ? left->text : "", right ? right->text : "");
    CHECK(holds(app, condition));
  }
}

void follow_step(Window& window, const LessonStep& step) {
  CAPTURE(step.title);
  window.settle();
  CHECK(fault_of(window) == "");
  check_prose(window.app, step);
  check_popup(window, step);
  if (!step.task.empty() || !step.question.ask.empty()) {
    CHECK(window.state("task") == "open");
    REQUIRE(window.app.run("lesson.show").ok());
    window.settle();
    CHECK(window.state("task") == "done");
    check_popup(window, step);
  }
  CHECK(fault_of(window) == "");
}

void follow(const Lesson& lesson, std::string_view language, Extent extent) {
  CAPTURE(lesson.name, language, extent.width);
  NullBackend backend = Window::sample_backend();
  backend.resize(extent, 1);
  Window window(bare_options(), std::move(backend));
  REQUIRE(window.app.run("lesson.language", language).ok());
  REQUIRE(window.app.run("lesson.open", lesson.name).ok());
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    CHECK(window.state("lesson") == fmt::format("{} {}", lesson.name, i + 1));
    follow_step(window, lesson.steps[i]);
    REQUIRE(window.app.run("lesson.next").ok());
  }
  CHECK(window.state("lesson").empty());
  CHECK(was_followed(window.app, lesson.name));
}

TEST_CASE("lessons: each runs to its end by what it shows", "[gui]") {
  for (const std::string& language : shelf().languages())
    for (const auto& lesson : shelf().all(language)) {
      DYNAMIC_SECTION(language << " " << lesson->name) {
        follow(*lesson, language, {1680, 1050});
        if (!test::kSanitized) follow(*lesson, language, {1280, 800});
      }
    }
}

TEST_CASE("lessons: every file can be read", "[gui]") {
  CHECK(format(shelf().faults()) == "");
  CHECK(shelf().all("en").size() >= 7);
}

TEST_CASE("lessons: their commands exist, and every step can be gone back to", "[gui]") {
  const auto lessons = shelf().all("en");
  for (const auto& lesson : lessons) {
    CAPTURE(lesson->name);
    Window window(bare_options());
    for (const LessonStep& step : lesson->steps) {
      for (const auto* list : {&step.scene, &step.show})
        for (const Intent& intent : *list) {
          CAPTURE(label_of(intent));
          CHECK(find_command(intent.command) != nullptr);
        }
    }
    REQUIRE(window.app.run("lesson.open", lesson->name).ok());
    for (std::size_t i = 1; i < lesson->steps.size(); ++i) {
      window.settle();
      REQUIRE(window.app.run("lesson.next").ok());
    }
    for (std::size_t i = lesson->steps.size(); i-- > 0;) {
      window.settle();
      CHECK(fault_of(window) == "");
      check_popup(window, lesson->steps[i]);
      CHECK(window.app.run("lesson.back").ok() == (i > 0));
    }
  }
}

TEST_CASE("lessons: a translation has the same steps, and what a script reads", "[gui]") {
  for (const std::string& language : shelf().languages())
    for (const auto& first : shelf().all("en")) {
      const auto other = shelf().find(first->name, language);
      CAPTURE(language, first->name);
      CHECK(other->order == first->order);
      REQUIRE(other->steps.size() == first->steps.size());
      for (std::size_t i = 0; i < first->steps.size(); ++i) {
        const LessonStep &a = first->steps[i], &b = other->steps[i];
        CAPTURE(i + 1);
        CHECK(a.points == b.points);
        CHECK(a.clear == b.clear);
        CHECK(a.until.size() == b.until.size());
        CHECK(a.question.answers.size() == b.question.answers.size());
        CHECK(a.question.right == b.question.right);
        REQUIRE(a.holds.size() == b.holds.size());
        for (std::size_t k = 0; k < a.holds.size(); ++k) {
          CHECK(a.holds[k].name == b.holds[k].name);
          CHECK(a.holds[k].requested == b.holds[k].requested);
        }
        CHECK(a.scene.size() == b.scene.size());
        REQUIRE(a.show.size() == b.show.size());
        for (std::size_t k = 0; k < a.show.size(); ++k)
          CHECK(label_of(a.show[k]) == label_of(b.show[k]));
      }
    }
}

TEST_CASE("lessons: a language that isn't there falls back to the first", "[gui]") {
  CHECK(shelf().find("kept", "xx") == shelf().find("kept", "en"));
  CHECK(shelf().find("kept", "de") != shelf().find("kept", "en"));
  CHECK(shelf().word("next", "xx") == "Next");
  CHECK(shelf().word("next", "de") == "Weiter");
  CHECK(shelf().find("none of that name", "en") == nullptr);
  Window window(bare_options());
  CHECK_FALSE(window.app.run("lesson.language", "xx").ok());
  CHECK_FALSE(window.app.run("lesson.open", "none").ok());
}

TEST_CASE("lessons: each asks something, and ends in a large model", "[gui]") {
  for (const std::string& language : shelf().languages())
    for (const auto& lesson : shelf().all(language)) {
      CAPTURE(language, lesson->name);
      const auto asks = [](const LessonStep& step) { return !step.question.ask.empty(); };
      CHECK(std::any_of(lesson->steps.begin(), lesson->steps.end(), asks));
      CHECK_FALSE(lesson->then.empty());
      for (const Intent& intent : lesson->now) CHECK(find_command(intent.command) != nullptr);
    }
}

TEST_CASE("lessons: words that are explained are in the glossary", "[gui]") {
  for (const std::string& language : shelf().languages()) {
    for (const std::string& term : shelf().terms())
      CHECK_FALSE(shelf().meaning(term, language).empty());
    for (const auto& lesson : shelf().all(language))
      for (const LessonStep& step : lesson->steps)
        for (const std::string& text : all_texts(step))
          for (const std::string& term : terms_in(text)) {
            CAPTURE(language, lesson->name, term);
            CHECK_FALSE(shelf().meaning(term, language).empty());
          }
  }
  for (const char* term :
       {"peak", "saved", "recomputed", "bound", "flip", "tangent", "arena", "joint"})
    CHECK_FALSE(shelf().meaning(term, "en").empty());
}

// The end of a lesson in a model that is small here, but goes by the large one's name.
TEST_CASE("lessons: the end in the large model says what is so there", "[gui]") {
  for (const auto& lesson : shelf().all("en")) {
    CAPTURE(lesson->name);
    NullBackend backend = Window::sample_backend();
    backend.files["sample:gpt2"] = backend.files["sample:tiny_conv"];
    Window window(bare_options(), std::move(backend));
    REQUIRE(window.app.run("lesson.open", lesson->name).ok());
    window.settle();
    CHECK_FALSE(window.app.run("lesson.now").ok());
    for (std::size_t i = 1; i < lesson->steps.size(); ++i) {
      if (window.state("task") == "open") REQUIRE(window.app.run("lesson.show").ok());
      window.settle();
      REQUIRE(window.app.run("lesson.next").ok());
      window.settle();
    }
    REQUIRE(window.app.items.find("lesson/now") != nullptr);
    REQUIRE(window.app.run("lesson.now").ok());
    window.settle();
    CHECK(fault_of(window) == "");
    CHECK(window.app.document()->path == "sample:gpt2");
    CHECK(window.app.items.find("lesson/popup")->value == "Now in gpt2");
    CHECK(window.app.items.find("lesson/now") == nullptr);
    check_figures(window.app, lesson->then);
    // Back is to where it came from; from there it can be shown again.
    REQUIRE(window.app.run("lesson.back").ok());
    window.settle();
    CHECK(window.app.document()->path != "sample:gpt2");
    check_prose(window.app, lesson->steps.back());
    REQUIRE(window.app.run("lesson.now").ok());
    window.settle();
    REQUIRE(window.app.run("lesson.next").ok());
    CHECK(was_followed(window.app, lesson->name));
  }
}

TEST_CASE("lessons: where there is no large model nothing offers it", "[gui]") {
  Window window(bare_options());
  REQUIRE(window.app.run("lesson.open", "kept").ok());
  const std::size_t steps = shelf().find("kept", "en")->steps.size();
  for (std::size_t i = 1; i < steps; ++i) REQUIRE(window.app.run("lesson.next").ok());
  window.settle();
  CHECK(window.app.items.find("lesson/now") == nullptr);
}

}  // namespace
}  // namespace recut::gui

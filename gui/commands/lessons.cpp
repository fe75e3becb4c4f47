// Commands of lessons: their list, and the steps of one. The flow of a lesson has its own file,
// flow.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/lesson_kernels.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

bool has_lesson(const App& app) { return app.lessons.lesson() != nullptr; }
bool lessons_has_former(const App& app) { return has_lesson(app) && app.lessons.at() > 0; }
bool has_task(const App& app) {
  if (!has_lesson(app)) return false;
  const LessonStep& step = *app.lessons.step();
  return !step.show.empty() || !step.question.ask.empty();
}
// True if the popup's keys count: nothing covers it, and it is their turn.
bool goes_on(const App& app) {
  return has_lesson(app) && app.overlay.empty() && app.lessons.is_ready();
}
template <std::size_t number>
bool has_answer(const App& app) {
  return has_lesson(app) && app.overlay.empty() && !app.lessons.answer() &&
         app.lessons.step()->question.answers.size() >= number;
}
bool has_large(const App& app) { return app.lessons.has_large(app); }

Result<Done> open_lessons(App& app, std::string_view name) {
  if (!name.empty()) return app.lessons.open(app, name);
  app.overlay = "lessons";
  return Done{};
}

Result<Done> list(App& app, std::string_view) {
  app.overlay = app.overlay == "lessons" ? "" : "lessons";
  return Done{};
}

template <int by>
Result<Done> go_lessons(App& app, std::string_view) {
  return app.lessons.go(app, by);
}

Result<Done> show_lessons(App& app, std::string_view) {
  app.lessons.show();
  return Done{};
}

template <std::size_t number>
Result<Done> give_answer(App& app, std::string_view) {
  return app.lessons.give_answer(number);
}

Result<Done> answer_lessons(App& app, std::string_view number) {
  return app.lessons.give_answer(std::strtoul(std::string(number).c_str(), nullptr, 10));
}

Result<Done> show_in_large(App& app, std::string_view) {
  app.lessons.show_in_large(app);
  return Done{};
}

Result<Done> leave(App& app, std::string_view) {
  app.lessons.leave();
  return Done{};
}

Result<Done> count(App& app, std::string_view) {
  count_for_lesson(app, *app.document());
  return Done{};
}

// Resets a small graph to its first state: no budget, and the reference device. Panels return to
// the settings that lessons assume, which another lesson may have switched.
Result<Done> scene(App& app, std::string_view name) {
  app.settings.set("memory.view", "");
  app.settings.set_flag("graph.times", false);
  const std::string path = sample_path(name);
  if (const DocumentView* old = app.documents.find_path(path)) app.close_document(old->serial);
  app.open(path);
  app.document()->chose_budget = true;
  return Done{};
}

Result<Done> language(App& app, std::string_view requested) {
  const auto known = LessonShelf::built_in().languages();
  if (std::find(known.begin(), known.end(), requested) == known.end())
    return error(fmt::format("expected one of {}; found '{}'", fmt::join(known, ", "), requested));
  app.settings.set("language", std::string(requested));
  return Done{};
}

// One command for each lesson, by its index in the list, as a row's function has no argument of its
// own.
constexpr std::size_t kMaxLessons = 32;

template <std::size_t index>
Result<Done> open_at(App& app, std::string_view) {
  return app.lessons.open(app, LessonShelf::built_in().all(kFirstLanguage)[index]->name);
}

template <std::size_t... index>
std::vector<Command> rows_of(const std::vector<std::pair<std::string, std::string>>& names,
                             std::index_sequence<index...>) {
  constexpr Result<Done> (*run[])(App&, std::string_view) = {open_at<index>...};
  std::vector<Command> rows;
  for (std::size_t i = 0; i < names.size() && i < sizeof...(index); ++i)
    rows.push_back({names[i].first, names[i].second, "", "", nullptr, run[i]});
  return rows;
}

constexpr std::string_view kLessonCommandPanel = "lesson";
constexpr Command kLessonsRows[] = {
    {"lesson.list", "Lessons", "F4", "", nullptr, list},
    {"lesson.open", "", "", "its name", nullptr, open_lessons},
    {"lesson.next", "Lesson: next step", "F8", "", has_lesson, go_lessons<1>},
    {"lesson.back", "Lesson: the step before", "Shift+F8", "", lessons_has_former, go_lessons<-1>},
    {"lesson.show", "Lesson: show me", "F9", "", has_task, show_lessons},
    {"lesson.go_on", "", "Enter KeypadEnter", "", goes_on, go_lessons<1>, kLessonCommandPanel},
    {"lesson.answer", "", "", "its number", has_lesson, answer_lessons},
    {"lesson.answer_first", "", "1", "", has_answer<1>, give_answer<1>, kLessonCommandPanel},
    {"lesson.answer_second", "", "2", "", has_answer<2>, give_answer<2>, kLessonCommandPanel},
    {"lesson.answer_third", "", "3", "", has_answer<3>, give_answer<3>, kLessonCommandPanel},
    {"lesson.now", "Lesson: now in a large model", "", "", has_large, show_in_large},
    {"lesson.leave", "Leave the lesson", "Shift+F4", "", has_lesson, leave},
    {"lesson.language", "Language of the lessons", "", "en, de …", nullptr, language},
    {"lesson.scene", "", "", "a sample's name", nullptr, scene},
    {"lesson.count", "", "", "", has_plan, count},
};

}  // namespace

// The commands of lessons, with a row for each lesson, so that the palette finds them by title.
std::span<const Command> lessons_commands() {
  static const auto names = [] {
    std::vector<std::pair<std::string, std::string>> made;
    for (const auto& lesson : LessonShelf::built_in().all(kFirstLanguage))
      made.emplace_back("lesson.open." + lesson->name, "Lesson: " + lesson->title);
    return made;
  }();
  static const std::vector<Command> rows = [] {
    std::vector<Command> made(std::begin(kLessonsRows), std::end(kLessonsRows));
    for (const Command& row : rows_of(names, std::make_index_sequence<kMaxLessons>()))
      made.push_back(row);
    return made;
  }();
  return rows;
}

}  // namespace recut::gui

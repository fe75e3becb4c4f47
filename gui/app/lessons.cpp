#include "gui/app/lessons.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"

namespace recut::gui {
namespace {

// True if the command needs a graph; the others may run while a file opens.
bool needs_graph(const Intent& intent) {
  return intent.command != "lesson.scene" && intent.command != "file.sample";
}

// The target of a label has to be on the screen: its panel may be hidden, or behind another.
void show_panels(const LessonStep& step, std::deque<Intent>& pending) {
  for (const std::string& label : step.points) {
    const std::string panel = label.substr(0, label.find('/'));
    if (panel != "bar" && panel != label) pending.push_back({"panel.show", panel});
  }
}

}  // namespace

Result<Done> Lessons::open(App& app, std::string_view name) {
  auto lesson = LessonShelf::built_in().find(name, language_of(app));
  if (lesson == nullptr) {
    std::string names;
    for (const auto& one : LessonShelf::built_in().all(kFirstLanguage))
      names += (names.empty() ? "" : ", ") + one->name;
    return error(fmt::format("expected a lesson, one of {}; found '{}'", names, name));
  }
  lesson_ = std::move(lesson);
  enter(app, 0);
  return Done{};
}

Result<Done> Lessons::go(App& app, int by) {
  if (by > 0 && is_last()) {
    app.settings.set("lesson." + lesson_->name, "done");
    leave();
    app.overlay = "lessons";
    return Done{};
  }
  // The way back from the large model restores the document before it, as it was left.
  if (by < 0 && in_large_) {
    in_large_ = false;
    pending_.clear();
    if (app.documents.find(small_) != nullptr) app.documents.show(small_);
    return Done{};
  }
  if (by < 0 && at_ == 0) return error("this is the first step");
  enter(app, by > 0 ? at_ + 1 : at_ - 1);
  return Done{};
}

void Lessons::enter(App& app, std::size_t step) {
  at_ = step;
  done_ = in_large_ = false;
  answer_.reset();
  pending_.clear();
  for (const Intent& intent : this->step()->scene) pending_.push_back(intent);
  show_panels(*this->step(), pending_);
  app.overlay.clear();
  app.items.focused = "lesson/next";
}

bool Lessons::is_ready() const {
  const bool waits = step() != nullptr && (!step()->task.empty() || !step()->question.ask.empty());
  return step() != nullptr && (done_ || !waits);
}

Result<Done> Lessons::give_answer(std::size_t number) {
  const std::size_t all = step() != nullptr ? step()->question.answers.size() : 0;
  if (number < 1 || number > all) return error(fmt::format("expected an answer, 1 to {}", all));
  answer_ = number - 1;
  done_ = true;
  return Done{};
}

bool Lessons::has_large(const App& app) const {
  if (!is_last() || in_large_ || lesson_->now.empty()) return false;
  const std::vector<std::string> samples = app.backend.samples();
  return std::all_of(lesson_->now.begin(), lesson_->now.end(), [&](const Intent& intent) {
    return intent.command != "file.sample" ||
           std::find(samples.begin(), samples.end(), intent.argument) != samples.end();
  });
}

void Lessons::show_in_large(const App& app) {
  in_large_ = true;
  small_ = app.document() != nullptr ? app.document()->serial : 0;
  pending_.assign(lesson_->now.begin(), lesson_->now.end());
}

void Lessons::show() {
  if (!lesson_) return;
  if (!step()->question.ask.empty()) (void)give_answer(step()->question.right + 1);
  for (const Intent& intent : step()->show) pending_.push_back(intent);
}

// Runs the step's next command; false if it has to wait for a graph.
bool Lessons::run_next(App& app) {
  const DocumentView* front = app.document();
  const bool opening = front != nullptr && front->state == DocumentState::opening;
  if (needs_graph(pending_.front()) && opening) return false;
  const Intent intent = pending_.front();
  pending_.pop_front();
  // A disabled command isn't needed: without a selection there is nothing to clear.
  const Command* command = find_command(intent.command);
  if (command != nullptr && command->enabled != nullptr && !command->enabled(app)) return true;
  const Result<Done> done = app.run(intent.command, intent.argument);
  if (!done) app.say(done.diagnostics().front().message, true);
  return true;
}

bool Lessons::tick(App& app) {
  if (!lesson_) return false;
  bool changed = false;
  while (lesson_ && !pending_.empty() && run_next(app)) changed = true;
  if (!lesson_ || done_ || !pending_.empty() || step()->until.empty()) return changed;
  const auto& until = step()->until;
  done_ = std::all_of(until.begin(), until.end(), [&](const auto& c) { return holds(app, c); });
  return changed || done_;
}

std::string language_of(const App& app) { return app.settings.text("language", kFirstLanguage); }

bool was_followed(const App& app, std::string_view lesson) {
  return app.settings.text("lesson." + std::string(lesson)) == "done";
}

}  // namespace recut::gui

// The running lesson: its step, the pending commands of its scene, and whether its task is done.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/app/lesson_shelf.h"

namespace recut::gui {

class App;

class Lessons {
 public:
  // The running lesson and its step; null and 0 if none runs.
  const Lesson* lesson() const { return lesson_.get(); }
  std::size_t at() const { return at_; }
  const LessonStep* step() const { return lesson_ ? &lesson_->steps[at_] : nullptr; }
  bool is_last() const { return lesson_ && at_ + 1 == lesson_->steps.size(); }
  // True if the step's commands have run; and if its task was done since (once is enough).
  bool is_set() const { return pending_.empty(); }
  bool is_done() const { return done_; }
  // True if it waits for nothing before it goes on.
  bool is_ready() const;
  // The answer that was given to the step's question; nullopt: none yet.
  std::optional<std::size_t> answer() const { return answer_; }
  // True if the lesson's end is shown in the large model that it names.
  bool is_in_large() const { return in_large_; }
  // True if the large model can be shown: at the lesson's end, if the model is among the samples.
  bool has_large(const App& app) const;

  // Fails where there is no such lesson, or no such step in the running one.
  Result<Done> open(App& app, std::string_view name);
  Result<Done> go(App& app, int by);
  void show();
  Result<Done> give_answer(std::size_t number);  // from 1
  void show_in_large(const App& app);
  void leave() { *this = Lessons(); }

  // Call it before each frame: sets the scene, a command at a time, as soon as there is a graph for
  // it, then checks the task. True if something changed.
  bool tick(App& app);

 private:
  void enter(App& app, std::size_t step);
  bool run_next(App& app);

  std::shared_ptr<const Lesson> lesson_;
  std::size_t at_ = 0;
  std::deque<Intent> pending_;
  bool done_ = false;
  bool in_large_ = false;
  int small_ = 0;  // the document that it was shown in before
  std::optional<std::size_t> answer_;
};

// The settings of the reader's language, and of lessons that were followed to their end.
std::string language_of(const App& app);
bool was_followed(const App& app, std::string_view lesson);

}  // namespace recut::gui

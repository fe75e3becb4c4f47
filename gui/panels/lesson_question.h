// The question of a lesson's step, on its popup: answers to choose from, then the right one and
// why.
#pragma once

#include <vector>

#include "gui/app/app.h"
#include "gui/draw/prose.h"

namespace recut::gui {

class LessonQuestionView {
 public:
  LessonQuestionView(Ui& ui, const App& app, const LessonQuestion& question, float width);

  float height() const;  // 0 where there is none
  void draw(Rect area, Intents& intents) const;

 private:
  float answer_height(std::size_t i) const;
  void answer(std::size_t i, const Rect& row, Intents& intents) const;
  void sign(std::size_t i, ImVec2 centre) const;

  Ui& ui_;
  const LessonQuestion& question_;
  const std::optional<std::size_t> given_;
  std::vector<Prose> answers_;
  Prose ask_, because_;
};

}  // namespace recut::gui

#include "gui/panels/lesson_question.h"

#include <fmt/core.h>

#include <cmath>

#include "gui/app/lesson_figure.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kAnswerSign = 30, kAnswerAbove = 5, kBetweenAnswers = 4, kBeforeBecause = 6;

std::vector<std::string> paragraph_of(const App& app, const std::string& text) {
  return text.empty() ? std::vector<std::string>() : std::vector{filled_in(app, text)};
}

}  // namespace

LessonQuestionView::LessonQuestionView(Ui& ui, const App& app, const LessonQuestion& question,
                                       float width)
    : ui_(ui),
      question_(question),
      given_(app.lessons.answer()),
      ask_(ui, paragraph_of(app, question.ask.empty() ? "" : "**" + question.ask + "**"), width),
      because_(ui, paragraph_of(app, given_ ? question.because : ""), width) {
  for (const std::string& text : question.answers)
    answers_.emplace_back(ui, paragraph_of(app, text), width - ui.px(kAnswerSign + 6));
}

float LessonQuestionView::answer_height(std::size_t i) const {
  return std::max(ui_.target(0), std::round(answers_[i].height() + ui_.px(2 * kAnswerAbove)));
}

float LessonQuestionView::height() const {
  if (answers_.empty()) return 0;
  float high = ask_.height() + ui_.px(kBeforeBecause);
  for (std::size_t i = 0; i < answers_.size(); ++i)
    high += answer_height(i) + ui_.px(kBetweenAnswers);
  if (given_) high += because_.height() + ui_.px(kBeforeBecause);
  return std::round(high);
}

void LessonQuestionView::draw(Rect area, Intents& intents) const {
  const char* state = !given_ ? "open" : *given_ == question_.right ? "right" : "wrong";
  ui_.items.add("question", ItemKind::figure, area, true, state);
  ask_.draw(ui_, area.cut_top(ask_.height()).corner(), ui_.theme.text);
  area.cut_top(ui_.px(kBeforeBecause));
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    answer(i, area.cut_top(answer_height(i)), intents);
    area.cut_top(ui_.px(kBetweenAnswers));
  }
  area.cut_top(ui_.px(kBeforeBecause));
  if (given_) because_.draw(ui_, area.corner(), ui_.theme.text);
}

void LessonQuestionView::answer(std::size_t i, const Rect& row, Intents& intents) const {
  const bool right = given_ && i == question_.right, wrong = given_ == i && !right;
  const WidgetResponse t = interact(ui_, fmt::format("answer {}", i + 1), ItemKind::button, row,
                                    !given_, question_.answers[i]);
  if (t.pressed) intents.push_back({"lesson.answer", fmt::format("{}", i + 1)});
  const Colour colour = right ? ui_.theme.result : wrong ? ui_.theme.conflict : ui_.theme.selection;
  const double share = right || wrong ? 0.14 : t.hovered ? 0.12 : 0.04;
  ui_.fill(row, mix(ui_.theme.raised, colour, share), ui_.px(kRadius));
  ui_.frame(row, right || wrong ? colour : ui_.theme.line, ui_.px(kRadius));
  sign(i, {row.left + ui_.px(kAnswerSign / 2), row.top + ui_.px(kAnswerAbove + 9.5f)});
  answers_[i].draw(ui_, {row.left + ui_.px(kAnswerSign), row.top + ui_.px(kAnswerAbove)},
                   given_ && !right && !wrong ? ui_.theme.dim : ui_.theme.text);
}

// Draws the answer's key; once the question is answered, a tick at the right answer and a cross at
// a wrong one that was given.
void LessonQuestionView::sign(std::size_t i, ImVec2 c) const {
  if (given_ && i == question_.right) {
    const ImVec2 low{c.x - ui_.px(1), c.y + ui_.px(4)};
    ui_.line({c.x - ui_.px(5), c.y}, low, ui_.theme.result, ui_.px(2));
    ui_.line(low, {c.x + ui_.px(5), c.y - ui_.px(4)}, ui_.theme.result, ui_.px(2));
  } else if (given_ == i) {
    ui_.cross(c, ui_.px(4), ui_.theme.conflict, ui_.px(2));
  } else {
    ui_.label(c, fmt::format("{}", i + 1), Face::mono_small, ui_.theme.dim, Align::centre);
  }
}

}  // namespace recut::gui

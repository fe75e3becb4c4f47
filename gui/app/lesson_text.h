// A lesson: a guided tour of some steps, as in its file (gui/lessons/LANGUAGE/NAME.lesson).
//
//   title: Why activations are kept        the title in lists; `about:` one sentence more,
//   about: …                               `place:` its position among the others
//   place: 1
//
//   now: file.sample gpt2                  at the end a button *Now in gpt2* does this, as often as
//   then: …                                needed, and the popup goes on with this text
//
//   == One step of training                a step, and its heading
//   Prose, in paragraphs parted by blank lines. **Bold** words, `names`, {figures} that the state
//   of the window fills in, and words that the glossary explains: [peak], or [the peak: peak].
//   holds: figure peak < start_peak        an assumption of the prose, which tests check; likewise
//   do: lesson.scene lesson_chain          a command that sets the scene, as often as needed
//   point: graph/node h1                   the label of an item to draw a ring around, likewise
//   clear: graph/canvas                    an item that the popup leaves free, without a ring
//   task: Click `h1` in the graph.         the instruction to the reader
//   until: state selection h1              the condition that ends it: gui/app/condition.h
//   show: select.node h1                   the command that does it for the reader
//
//   ask: Which goes first?                 in place of a task a question, with two or three answers
//   answer: …                              of which one is right, and why
//   right: …
//   because: …
//
// `#` at the beginning of a line makes a remark of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "gui/app/command.h"
#include "gui/app/condition.h"

namespace recut::gui {

struct LessonQuestion {
  std::string ask;  // "": there is none
  std::vector<std::string> answers;
  std::size_t right = 0;  // of them
  std::string because;
};

struct LessonStep {
  std::string title;
  std::vector<std::string> paragraphs;
  std::string task;
  std::vector<Intent> scene;        // `do`
  std::vector<std::string> points;  // labels of items
  std::vector<std::string> clear;
  std::vector<Condition> until;  // all of them; none: there is nothing to do
  std::vector<Intent> show;
  std::vector<Condition> holds;
  LessonQuestion question;
};

struct Lesson {
  std::string name;  // of the file, without folder and ending
  std::string title, about;
  int order = 0;
  std::vector<LessonStep> steps;  // at least one
  std::vector<Intent> now;        // with `then`, or neither
  std::string then;
};

// The figures that prose and tasks name, in the order of first appearance: "peak" of "{peak}"; and
// names of values: "h1" of "`h1`".
std::vector<std::string> figures_in(std::string_view text);
std::vector<std::string> values_in(std::string_view text);
std::vector<std::string> terms_in(std::string_view text);  // "peak" of "[the peak: peak]"
// All texts of a step that the popup shows, its question's included.
std::vector<std::string> all_texts(const LessonStep& step);

// Any bytes give a lesson or diagnostics with file and line. `file_name` says the lesson's name.
Result<Lesson> parse_lesson(std::string_view text, const std::string& file_name);

// A text that the popup itself shows, or a term's meaning, by key: a line of `key: text`.
struct LocalizedText {
  std::string key, text;
};
Result<std::vector<LocalizedText>> parse_localized_texts(std::string_view text,
                                                         const std::string& file_name);

}  // namespace recut::gui

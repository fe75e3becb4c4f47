// The text of lessons: what is read, what is refused and how, and that any bytes are one of both.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "gui/app/lesson_text.h"
#include "tests/random/random_graph.h"

namespace recut::gui {
namespace {

constexpr const char* kGood = R"(# A remark.
title: A title: with a colon
about: What about
place: 7
now: file.sample gpt2
then: In the large one
then: it is so, too.

== First
Some prose that
goes on, with {peak} and `names`.

A second paragraph: with a colon.

== Second
More.
do: lesson.scene layers
do: budget.set 50%
point: memory/peak
point: graph/node h 1
task: Do it.
until: state budget below 50%
until: value memory/peak "a b"
until: no item memory/x
show: budget.set 40%
holds: figure torch_peak 0.5 <= 0.5 start_peak

== Third
A [term], and [its other form: term]; `a[i]` is code.
ask: Which
ask: one?
answer: This.
right: That.
because: Of reasons.
)";

std::string fault_of(const std::string& text) {
  const auto lesson = parse_lesson(text, "gui/lessons/en/x.lesson");
  return lesson ? "none" : format(lesson.diagnostics());
}

std::string with_step(const std::string& lines) { return "title: T\n== S\nProse.\n\n" + lines; }

TEST_CASE("lesson text: everything that can stand in one", "[gui]") {
  const auto lesson = parse_lesson(kGood, "gui/lessons/en/tour.lesson");
  REQUIRE(lesson.ok());
  CHECK(lesson->name == "tour");
  CHECK(lesson->title == "A title: with a colon");
  CHECK(lesson->order == 7);
  CHECK(lesson->now.front().argument == "gpt2");
  CHECK(lesson->then == "In the large one it is so, too.");
  REQUIRE(lesson->steps.size() == 3);
  const LessonQuestion& question = lesson->steps[2].question;
  CHECK(question.ask == "Which one?");
  CHECK(question.answers == std::vector<std::string>{"This.", "That."});
  CHECK(question.right == 1);
  CHECK(question.because == "Of reasons.");
  const LessonStep& first = lesson->steps[0];
  REQUIRE(first.paragraphs.size() == 2);
  CHECK(first.paragraphs[0] == "Some prose that goes on, with {peak} and `names`.");
  CHECK(figures_in(first.paragraphs[0]) == std::vector<std::string>{"peak"});
  const LessonStep& second = lesson->steps[1];
  REQUIRE(second.scene.size() == 2);
  CHECK(second.scene[1].command == "budget.set");
  CHECK(second.scene[1].argument == "50%");
  CHECK(second.points[1] == "graph/node h 1");
  REQUIRE(second.until.size() == 3);
  CHECK(second.until[0].requested == std::vector<std::string>{"below", "50%"});
  CHECK(second.until[1].requested == std::vector<std::string>{"a b"});
  CHECK(second.until[2].no);
  REQUIRE(second.holds.size() == 1);
  CHECK(second.holds[0].name == "torch_peak 0.5");
  CHECK(second.holds[0].requested == std::vector<std::string>{"<=", "0.5 start_peak"});
  CHECK(values_in("`a` and `b`, `a`") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("lesson text: what is wrong is said with line, found and expected", "[gui]") {
  const auto has = [](const std::string& fault, const char* part) {
    INFO(fault);
    return fault.find(part) != std::string::npos;
  };
  CHECK(has(fault_of(""), "expected 'title: …'"));
  CHECK(has(fault_of("title: T\n"), "expected a step"));
  CHECK(has(fault_of("title: T\nwords\n"), "x.lesson:2"));
  CHECK(has(fault_of("title: T\n==\n"), "expected the step's heading"));
  CHECK(has(fault_of(with_step("nonsense: x\n")), "x.lesson:5"));
  CHECK(has(fault_of(with_step("nonsense: x\n")), "found 'nonsense'"));
  CHECK(fault_of("title: T\n== S\nProse goes on with a\nword: and a colon.\n") == "none");
  CHECK(has(fault_of(with_step("title: again\n")), "'title' stands before the first step"));
  CHECK(has(fault_of("title: T\ndo: x\n"), "'do' stands after the first step"));
  CHECK(has(fault_of(with_step("task:\n")), "expected words after 'task:'"));
  CHECK(has(fault_of(with_step("task: Do.\n")), "both 'task' and 'until'"));
  CHECK(has(fault_of(with_step("until: state x y\n")), "both 'task' and 'until'"));
  CHECK(has(fault_of(with_step("until: perhaps\n")), "found 'perhaps'"));
  CHECK(has(fault_of(with_step("until: state\n")), "expected a name after 'state'"));
  CHECK(has(fault_of(with_step("until: state a \"b\n")), "doesn't close"));
  CHECK(has(fault_of(with_step("until: no state a b\n")), "'no' stands before 'item' alone"));
  CHECK(has(fault_of(with_step("A {figure.\n")), "expected '}'"));
  CHECK(has(fault_of(with_step("A **word.\n")), "second '**'"));
  CHECK(has(fault_of(with_step("A `word.\n")), "second '`'"));
  CHECK(has(fault_of("title: T\nplace: first\n"), "found 'first'"));
  CHECK(has(fault_of("title: T\n== S\n"), "expected prose"));
  CHECK(has(fault_of(with_step("holds: figure peak\n")), "expected two figures"));
  CHECK(has(fault_of(with_step("holds: figure < peak\n")), "expected two figures"));
  CHECK(has(fault_of(with_step("A [term.\n")), "expected ']'"));
  CHECK(has(fault_of("title: T\nnow: file.sample x\n== S\nProse.\n"), "both 'now' and 'then'"));
  const std::string asked = "ask: A?\nbecause: B.\n";
  CHECK(has(fault_of(with_step(asked + "answer: C\nanswer: D\n")), "one of them 'right'"));
  CHECK(has(fault_of(with_step(asked + "right: C\n")), "one of them 'right'"));
  CHECK(fault_of(with_step(asked + "right: C\nanswer: D\n")) == "none");
  CHECK(
      has(fault_of(with_step(asked + "right: C\nanswer: D\ntask: E\nuntil: state a b\nshow: f\n")),
          "found both"));
}

TEST_CASE("lesson text: any bytes are a lesson or a refusal", "[gui]") {
  test::Random random(1);
  const std::string good = kGood;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    const auto changes = 1 + random.below(8);
    for (std::int64_t i = 0; i < changes && !text.empty(); ++i) {
      const auto below = [&](std::size_t bound) {
        return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bound)));
      };
      const std::size_t at = below(text.size());
      switch (random.below(3)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, below(30));
          break;
        default: {
          const std::size_t from = below(good.size());
          text.insert(at, good, from, below(30));
        }
      }
    }
    const auto lesson = parse_lesson(text, "x.lesson");
    if (lesson) {
      CHECK_FALSE(lesson->steps.empty());
    } else {
      CHECK_FALSE(lesson.diagnostics().empty());
    }
  }
}

TEST_CASE("lesson text: the popup's labels", "[gui]") {
  const auto text = parse_localized_texts("# remark\nnext: Weiter\n", "labels.words");
  REQUIRE(text.ok());
  REQUIRE(text->size() == 1);
  CHECK(text->front().text == "Weiter");
  CHECK_FALSE(parse_localized_texts("next Weiter\n", "labels.words").ok());
}

}  // namespace
}  // namespace recut::gui

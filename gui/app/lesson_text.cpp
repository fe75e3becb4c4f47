#include "gui/app/lesson_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

constexpr std::string_view kKeys[] = {"title", "about",  "place", "now",    "then", "do",
                                      "point", "clear",  "task",  "until",  "show", "holds",
                                      "ask",   "answer", "right", "because"};
constexpr std::string_view kHeadKeys[] = {"title", "about", "place", "now", "then"};
constexpr std::size_t kMaxAnswers = 3;
constexpr std::size_t kLessonTextMaxBytes = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_key_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// The key of a line, "until" of "until: state peak"; "" for prose. Only a lone small word at the
// beginning is a key, so that prose may have colons.
std::string_view key_of(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && is_key_letter(line[end])) ++end;
  const bool key = end > 0 && end < line.size() && line[end] == ':';
  return key ? line.substr(0, end) : std::string_view();
}

std::string name_of_file(const std::string& path) {
  const std::string name = file_name(path);
  return name.substr(0, name.find('.'));
}

Intent intent_of(std::string_view text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  return {std::string(text.substr(0, blank)), std::string(trimmed(text.substr(blank)))};
}

// The parts between one mark and the next, each once, in the order of first appearance.
std::vector<std::string> between(std::string_view text, char open, char close) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string_view::npos;) {
    const std::size_t end = text.find(close, at + 1);
    if (end == std::string_view::npos) break;
    std::string name(text.substr(at + 1, end - at - 1));
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

// The fault in the marks of a paragraph or a task; "" for none.
std::string fault_in(std::string_view text) {
  std::size_t bold = 0;
  for (std::size_t at = 0; (at = text.find("**", at)) != std::string_view::npos; at += 2) ++bold;
  if (bold % 2 != 0) return "expected a second '**' after the bold words; found none";
  if (std::count(text.begin(), text.end(), '`') % 2 != 0)
    return "expected a second '`' after the name; found none";
  bool open = false;
  for (const char c : text) {
    if (c == '{' && open) return "expected '}' after a figure's name; found '{'";
    if (c == '}' && !open) return "expected '{' before a figure's name; found '}'";
    if (c == '{' || c == '}') open = c == '{';
  }
  if (open) return "expected '}' after a figure's name; found none";
  bool name = false;
  for (const char c : text) {
    if (c == '`') name = !name;
    if (name) continue;
    if (c == '[' && open) return "expected ']' after a word of the glossary; found '['";
    if (c == ']' && !open) return "expected '[' before a word of the glossary; found ']'";
    if (c == '[' || c == ']') open = c == '[';
  }
  return open ? "expected ']' after a word of the glossary; found none" : "";
}

class LessonReader {
 public:
  LessonReader(std::string_view text, const std::string& file_name) : text_(text) {
    file_ = file_name;
    lesson_.name = name_of_file(file_name);
  }

  Result<Lesson> read() {
    if (text_.size() > kLessonTextMaxBytes) fail("expected a lesson; found more than 1 MiB");
    for (std::size_t at = 0; at < text_.size() && faults_.empty();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      ++number_;
      line(trimmed(text_.substr(at, end - at)));
      at = end + 1;
    }
    end_step();
    if (lesson_.now.empty() != lesson_.then.empty())
      fail("expected both 'now' and 'then'; found one of them");
    if (lesson_.title.empty()) fail("expected 'title: …' at the beginning; found none");
    if (lesson_.steps.empty()) fail("expected a step, '== Its heading'; found none");
    if (!faults_.empty()) return faults_;
    return std::move(lesson_);
  }

 private:
  void fail(std::string text) { faults_.push_back({std::move(text), file_, number_, 0}); }

  void line(std::string_view line) {
    if (!line.empty() && line.front() == '#') return;
    if (line.rfind("==", 0) == 0) return begin_step(trimmed(line.substr(2)));
    const std::string_view key = key_of(line);
    // Within a paragraph only known keys count, so that prose may begin a line with any word.
    const bool known = std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
    if (!key.empty() && (known || !paragraph_))
      return field(key, trimmed(line.substr(key.size() + 1)));
    prose(line);
  }

  void begin_step(std::string_view title) {
    end_step();
    if (title.empty()) return fail("expected the step's heading after '=='; found nothing");
    lesson_.steps.emplace_back();
    lesson_.steps.back().title = std::string(title);
    paragraph_ = false;
  }

  // A task has three parts, none without the others: the instruction, `until` (its condition) and
  // `show` (the command that does it).
  void end_step() {
    if (lesson_.steps.empty()) return;
    const LessonStep& step = lesson_.steps.back();
    const bool task = !step.task.empty();
    for (const auto& [key, there] :
         {std::pair("until", !step.until.empty()), std::pair("show", !step.show.empty())})
      if (there != task)
        fail(fmt::format("expected both 'task' and '{}' in the step '{}'; found one of them", key,
                         step.title));
    if (step.paragraphs.empty())
      fail(fmt::format("expected prose in the step '{}'; found none", step.title));
    end_question(step);
    for (const std::string& text : all_texts(step)) check_marks(text, step);
  }

  void end_question(const LessonStep& step) {
    const LessonQuestion& question = step.question;
    const bool requested = !question.ask.empty(), answered = !question.answers.empty();
    if (requested && !step.task.empty())
      fail(fmt::format("expected a task or a question in the step '{}'; found both", step.title));
    const bool whole = rights_ == 1 && question.answers.size() >= 2 &&
                       question.answers.size() <= kMaxAnswers && !question.because.empty();
    if ((requested || answered || !question.because.empty()) && !(requested && whole))
      fail(
          fmt::format("expected 'ask', 2 or {} answers, one of them 'right', and 'because' in the "
                      "step '{}'",
                      kMaxAnswers, step.title));
    rights_ = 0;
  }

  void check_marks(const std::string& text, const LessonStep& step) {
    const std::string fault = fault_in(text);
    if (!fault.empty()) fail(fmt::format("in the step '{}': {}", step.title, fault));
  }

  void prose(std::string_view line) {
    if (line.empty()) {
      paragraph_ = false;
      return;
    }
    if (lesson_.steps.empty())
      return fail(fmt::format("expected one of {} or a step; found '{}'",
                              fmt::join(kHeadKeys, ", "), line));
    auto& paragraphs = lesson_.steps.back().paragraphs;
    if (!paragraph_) paragraphs.emplace_back();
    paragraph_ = true;
    paragraphs.back() += (paragraphs.back().empty() ? "" : " ") + std::string(line);
  }

  void field(std::string_view key, std::string_view text) {
    paragraph_ = false;
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return fail(fmt::format("expected one of {}; found '{}'", fmt::join(kKeys, ", "), key));
    if (text.empty()) return fail(fmt::format("expected words after '{}:'; found none", key));
    const bool head =
        std::find(std::begin(kHeadKeys), std::end(kHeadKeys), key) != std::end(kHeadKeys);
    if (head != lesson_.steps.empty())
      return fail(fmt::format("'{}' stands {} the first step", key, head ? "before" : "after"));
    head ? head_field(key, text) : step_field(key, text, lesson_.steps.back());
  }

  void head_field(std::string_view key, std::string_view text) {
    if (key == "title") lesson_.title = std::string(text);
    if (key == "about") lesson_.about = std::string(text);
    if (key == "now") lesson_.now.push_back(intent_of(text));
    if (key == "then") append(lesson_.then, text);
    if (key != "place") return;
    const bool number = text.size() < 4 && text.find_first_not_of("0123456789") == text.npos;
    if (!number) return fail(fmt::format("expected a place, 1 to 999; found '{}'", text));
    lesson_.order = std::atoi(std::string(text).c_str());
  }

  void step_field(std::string_view key, std::string_view text, LessonStep& step) {
    if (key == "do") step.scene.push_back(intent_of(text));
    if (key == "show") step.show.push_back(intent_of(text));
    if (key == "point") step.points.emplace_back(text);
    if (key == "clear") step.clear.emplace_back(text);
    if (key == "task") append(step.task, text);
    question_field(key, text, step.question);
    if (key != "until" && key != "holds") return;
    auto condition = read_condition(text);
    if (!condition) return fail(condition.diagnostics().front().message);
    (key == "until" ? step.until : step.holds).push_back(std::move(*condition));
  }

  void question_field(std::string_view key, std::string_view text, LessonQuestion& question) {
    if (key == "ask") append(question.ask, text);
    if (key == "because") append(question.because, text);
    if (key == "right") question.right = question.answers.size();
    if (key == "right") ++rights_;
    if (key == "right" || key == "answer") question.answers.emplace_back(text);
  }

  // A long text goes on in another line with the same key.
  static void append(std::string& text, std::string_view more) {
    text += (text.empty() ? "" : " ") + std::string(more);
  }

  const std::string_view text_;
  std::string file_;
  Lesson lesson_;
  Diagnostics faults_;
  std::uint32_t number_ = 0;
  int rights_ = 0;          // of the step's question
  bool paragraph_ = false;  // the next line of prose goes on with the last paragraph
};

}  // namespace

std::vector<std::string> figures_in(std::string_view text) { return between(text, '{', '}'); }
std::vector<std::string> values_in(std::string_view text) { return between(text, '`', '`'); }

std::vector<std::string> terms_in(std::string_view text) {
  std::vector<std::string> terms = between(text, '[', ']');
  std::erase_if(terms, [](const std::string& term) { return term.empty(); });
  for (std::string& term : terms)
    if (const std::size_t colon = term.find(": "); colon != term.npos) term.erase(0, colon + 2);
  return terms;
}

std::vector<std::string> all_texts(const LessonStep& step) {
  std::vector<std::string> texts = step.paragraphs;
  texts.insert(texts.end(), step.question.answers.begin(), step.question.answers.end());
  for (const std::string* more : {&step.task, &step.question.ask, &step.question.because})
    if (!more->empty()) texts.push_back(*more);
  return texts;
}

Result<Lesson> parse_lesson(std::string_view text, const std::string& file_name) {
  return LessonReader(text, file_name).read();
}

Result<std::vector<LocalizedText>> parse_localized_texts(std::string_view text,
                                                         const std::string& file_name) {
  std::vector<LocalizedText> entries;
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::string_view key = key_of(line);
    if (key.empty())
      return Diagnostic{fmt::format("expected 'key: words'; found '{}'", line), file_name, number,
                        0};
    entries.push_back({std::string(key), std::string(trimmed(line.substr(key.size() + 1)))});
  }
  return entries;
}

}  // namespace recut::gui

#include "gui/app/lesson_shelf.h"

#include <algorithm>

#include "gui/embedded.h"

namespace recut::gui {
namespace {

// Files of a language: the labels of the popup, and the glossary.
constexpr std::string_view kLabelsFile = "labels", kGlossaryFile = "glossary";

std::string_view embedded_text(const EmbeddedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

}  // namespace

const LessonShelf& LessonShelf::built_in() {
  static const LessonShelf shelf = [] {
    LessonShelf made;
    for (const EmbeddedFile& file : embedded_lessons()) made.add(file.name, embedded_text(file));
    return made;
  }();
  return shelf;
}

// `name`: "en/kept".
void LessonShelf::add(std::string_view name, std::string_view text) {
  const std::size_t slash = std::min(name.find('/'), name.size());
  Language& home = language(name.substr(0, slash));
  const std::string_view rest = name.substr(std::min(slash + 1, name.size()));
  const bool is_words = rest == kLabelsFile || rest == kGlossaryFile;
  const std::string path = "gui/lessons/" + std::string(name) + (is_words ? ".words" : ".lesson");
  const auto keep = [&](const Diagnostics& faults) {
    faults_.insert(faults_.end(), faults.begin(), faults.end());
  };
  if (is_words) {
    auto file_texts = parse_localized_texts(text, path);
    auto& list = rest == kLabelsFile ? home.labels : home.glossary;
    file_texts ? void(list = std::move(*file_texts)) : keep(file_texts.diagnostics());
    return;
  }
  auto lesson = parse_lesson(text, path);
  if (!lesson) return keep(lesson.diagnostics());
  home.lessons.push_back(std::make_shared<const Lesson>(std::move(*lesson)));
}

LessonShelf::Language& LessonShelf::language(std::string_view id) {
  for (Language& one : languages_)
    if (one.id == id) return one;
  languages_.push_back({std::string(id), {}, {}, {}});
  return languages_.back();
}

const LessonShelf::Language* LessonShelf::known(std::string_view id) const {
  for (const Language& one : languages_)
    if (one.id == id) return &one;
  return nullptr;
}

std::vector<std::shared_ptr<const Lesson>> LessonShelf::all(std::string_view language) const {
  std::vector<std::shared_ptr<const Lesson>> lessons;
  const Language* first = known(kFirstLanguage);
  if (first == nullptr) return lessons;
  for (const auto& lesson : first->lessons) lessons.push_back(find(lesson->name, language));
  std::stable_sort(lessons.begin(), lessons.end(),
                   [](const auto& a, const auto& b) { return a->order < b->order; });
  return lessons;
}

std::shared_ptr<const Lesson> LessonShelf::find(std::string_view name,
                                                std::string_view language) const {
  for (const std::string_view id : {language, kFirstLanguage}) {
    const Language* home = known(id);
    if (home == nullptr) continue;
    for (const auto& lesson : home->lessons)
      if (lesson->name == name) return lesson;
  }
  return nullptr;
}

std::vector<std::string> LessonShelf::languages() const {
  std::vector<std::string> ids{std::string(kFirstLanguage)};
  for (const Language& one : languages_)
    if (one.id != kFirstLanguage) ids.push_back(one.id);
  return ids;
}

const std::string& LessonShelf::word(std::string_view key, std::string_view language) const {
  return find_text(&Language::labels, key, language);
}

const std::string& LessonShelf::meaning(std::string_view term, std::string_view language) const {
  return find_text(&Language::glossary, term, language);
}

std::vector<std::string> LessonShelf::terms() const {
  std::vector<std::string> terms;
  if (const Language* first = known(kFirstLanguage))
    for (const LocalizedText& word : first->glossary) terms.push_back(word.key);
  return terms;
}

const std::string& LessonShelf::find_text(std::vector<LocalizedText> Language::*list,
                                          std::string_view key, std::string_view language) const {
  static const std::string none;
  for (const std::string_view id : {language, kFirstLanguage}) {
    const Language* home = known(id);
    if (home == nullptr) continue;
    for (const LocalizedText& word : home->*list)
      if (word.key == key) return word.text;
  }
  return none;
}

}  // namespace recut::gui

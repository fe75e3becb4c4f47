// The lessons that are built into the program, by language.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gui/app/lesson_text.h"

namespace recut::gui {

inline constexpr std::string_view kFirstLanguage = "en";

class LessonShelf {
 public:
  // The lessons of gui/lessons; a file that can't be read is left out, see faults().
  static const LessonShelf& built_in();

  // The lessons in their order; each in the language, or in the first language if it isn't
  // translated.
  std::vector<std::shared_ptr<const Lesson>> all(std::string_view language) const;
  std::shared_ptr<const Lesson> find(std::string_view name, std::string_view language) const;
  // The languages, "en" and "de"; and a language's own name.
  std::vector<std::string> languages() const;
  // A label of the popup in the language, or in the first one if it isn't translated.
  const std::string& word(std::string_view key, std::string_view language) const;
  // The meaning of a technical term, likewise; "" if the glossary hasn't got it.
  const std::string& meaning(std::string_view term, std::string_view language) const;
  std::vector<std::string> terms() const;

  const Diagnostics& faults() const { return faults_; }

 private:
  struct Language {
    std::string id;
    std::vector<std::shared_ptr<const Lesson>> lessons;
    std::vector<LocalizedText> labels, glossary;
  };
  const std::string& find_text(std::vector<LocalizedText> Language::*list, std::string_view key,
                               std::string_view language) const;
  void add(std::string_view name, std::string_view text);
  Language& language(std::string_view id);
  const Language* known(std::string_view id) const;

  std::vector<Language> languages_;
  Diagnostics faults_;
};

}  // namespace recut::gui

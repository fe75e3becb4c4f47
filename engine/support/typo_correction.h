// Corrections of typos: the existing name that is closest to an unknown one, for "did you mean …?".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recut {

// Finds, among the names that it is shown, the one with the smallest edit distance to the target
// (Levenshtein 1966). Ties go to the longest common prefix, then to the first. Names beyond a
// distance that grows with the length are ignored.
class TypoCorrection {
 public:
  explicit TypoCorrection(std::string_view target);

  void consider(std::string_view name) { consider(name, name); }
  // Compares `key` and answers with `name`.
  void consider(std::string_view key, std::string_view name);

  const std::string& name() const { return name_; }  // "" if no name is close
  // The end of a message, "; did you mean 'relu'?", or "".
  std::string suggestion() const;

 private:
  const std::string target_;
  std::size_t limit_;     // exclusive bound on edits; inclusive once there is a name
  std::size_t same_ = 0;  // length of the common prefix of name and target
  std::string name_;
};

}  // namespace recut

// The name that somebody may have meant by one that doesn't exist.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recut {

// Of the names that it is shown, one that takes the fewest single-character edits (Levenshtein 1966)
// to become the wanted one: of several that which begins like it, then the first. A name that differs by too many of its letters is no
// answer.
class NearName {
 public:
  explicit NearName(std::string_view wanted);

  void consider(std::string_view name) { consider(name, name); }
  // Compares `key` and answers with `name`.
  void consider(std::string_view key, std::string_view name);

  const std::string& name() const { return name_; }  // "" where none is near
  // "; did you mean 'relu'?" for the end of a message, "" where none is near.
  std::string question() const;

 private:
  const std::string wanted_;
  std::size_t limit_;     // fewer edits than these, as many as these once there is a name
  std::size_t same_ = 0;  // letters that the name and the wanted one begin with
  std::string name_;
};

}  // namespace recut

// Lines of a function, indented, each with its source location in the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

class Text {
 public:
  explicit Text(std::size_t depth = 0) : depth_(depth) {}

  // Sets the source location of the lines that follow. Returns the previous one.
  std::uint32_t begin_note(std::uint32_t note) { return std::exchange(note_, note); }

  void line(std::string_view line) {
    if (!line.empty()) text_.append(2 * depth_, ' ');
    text_.append(line) += '\n';
    notes_.push_back(note_);
  }
  // "for (...) {", or a brace alone, and its end.
  void open(const std::string& head) {
    line(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  void close(std::string_view behind = "") {
    --depth_;
    line("}" + std::string(behind));
  }
  // Whole lines without a location.
  void lines(std::string_view lines) {
    text_ += lines;
    for (const char c : lines)
      if (c == '\n') notes_.push_back(loop::kNoNote);
  }
  void append(const Text& more) {
    text_ += more.text_;
    notes_.insert(notes_.end(), more.notes_.begin(), more.notes_.end());
  }

  const std::string& text() const { return text_; }
  const std::vector<std::uint32_t>& notes() const { return notes_; }

 private:
  std::string text_;
  std::vector<std::uint32_t> notes_;
  std::uint32_t note_ = loop::kNoNote;
  std::size_t depth_;
};

}  // namespace recut::cuda

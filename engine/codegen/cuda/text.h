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
  std::uint32_t set_location(std::uint32_t location) { return std::exchange(location_, location); }

  void line(std::string_view line) {
    if (!line.empty()) text_.append(2 * depth_, ' ');
    text_.append(line) += '\n';
    locations_.push_back(location_);
  }
  // Opens "for (...) {", or a mere brace, and closes it.
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
      if (c == '\n') locations_.push_back(loop::kUnknownLocation);
  }
  void append(const Text& more) {
    text_ += more.text_;
    locations_.insert(locations_.end(), more.locations_.begin(), more.locations_.end());
  }

  const std::string& text() const { return text_; }
  const std::vector<std::uint32_t>& locations() const { return locations_; }

 private:
  std::string text_;
  std::vector<std::uint32_t> locations_;
  std::uint32_t location_ = loop::kUnknownLocation;
  std::size_t depth_;
};

}  // namespace recut::cuda

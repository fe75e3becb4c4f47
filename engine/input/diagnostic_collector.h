// Collects the diagnostics of one file, so that a reader can continue after the first error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/input/json.h"
#include "engine/support/result.h"

namespace recut {

class DiagnosticCollector {
 public:
  // Diagnostics beyond this number are only counted.
  static constexpr std::size_t kShown = 20;
  static constexpr std::size_t kShownBeyondLimit = 500;

  // `text` is the whole file, to turn positions into lines; it must outlive this object.
  DiagnosticCollector(std::string_view text, std::string_view file_name)
      : text_(text), file_(file_name) {}

  void add(std::string message, JsonValue where = {}) { add(std::move(message), where, kShown); }

  // For lists that are useful only as a whole, as of unknown operators.
  void add_beyond_limit(std::string message, JsonValue where) {
    add(std::move(message), where, kShownBeyondLimit);
  }

  bool none() const { return shown_.empty(); }

  // All diagnostics, with "and N more" at the end if some were only counted.
  Diagnostics take();

 private:
  void add(std::string message, JsonValue where, std::size_t limit);

  std::string_view text_;
  std::string_view file_;
  Diagnostics shown_;
  std::size_t more_ = 0;
};

}  // namespace recut

// The streams of a command: results to one, diagnostics and progress to the other.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::native {

// Exit codes that scripts rely on.
inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;  // also: a budget that can't be held
inline constexpr int kBadInput = 2;

struct Console {
  std::ostream& out;
  std::ostream& err;
  bool colours = false;   // `out` is a terminal that wants them
  bool progress = false;  // `err` is a terminal
  std::string command;    // the line as typed, for a shell; "" before it is parsed

  // Prints diagnostics as compilers do, with the line and a caret where the file can be read.
  // Returns kBadInput.
  int report_error(const Diagnostics& diagnostics) const;

  // Shows progress on one line that the next call overwrites; "" clears it. Does nothing without
  // a terminal.
  void say(std::string_view what) const;
};

// The text with its first line highlighted, where the console wants colours.
std::string highlighted(const Console& console, std::string_view text);

}  // namespace recut::native

// Where a command writes: results to one stream, complaints and progress to the other.
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
  bool colours = false;   // of `out`: a terminal that wants them
  bool progress = false;  // of `err`: a terminal
  std::string command;    // the line that was typed, as a shell takes it; "": it isn't read yet

  // Prints diagnostics as compilers do, with the line and a caret where the file can be read, and
  // returns kBadInput.
  int complain(const Diagnostics& diagnostics) const;

  // Shows what is going on, on one line that the next call overwrites; "" clears it. Nothing where
  // there is no terminal.
  void say(std::string_view what) const;
};

// The text with its first line set off, where the console wants colours.
std::string highlighted(const Console& console, std::string_view text);

}  // namespace recut::native

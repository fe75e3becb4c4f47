// The kind of a command's failure, so that a reduced graph keeps it and finds no other.
#pragma once

#include <optional>
#include <string>

#include "native/commands/shell_check.h"

namespace recut::native {

struct Failure {
  int code = 0;         // exit code, as in ShellRun; 0 of a slow run
  bool slow = false;    // took longer than the limit
  std::string message;  // of the output: a verdict such as DIFFERS, or the first error, without
                        // numbers and names of values; "" where there is neither
  double error = 0;     // the largest relative error that the output names; 0: none

  // "exit code 1, "DIFFERS", error 3.1e-02", in messages.
  std::string text() const;
};

// The failure of a run; none where it passed. Runs that end after `limit_seconds` are slow.
std::optional<Failure> failure_of(const ShellRun& run, std::optional<double> limit_seconds);

// True if a run failed as the first one did: with the same code or signal and the same message, and
// an error of a tenth of the first one's or more.
bool is_same(const Failure& first, const Failure& other);

}  // namespace recut::native

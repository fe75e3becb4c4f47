// A user's shell command as a check of graphs.
#pragma once

#include <optional>
#include <string>

#include "engine/passes/bisect.h"

namespace recut::native {

// A run of the command on a graph.
struct ShellRun {
  int code = 0;        // exit code; 128 and the signal's number where one ended the command
  double seconds = 0;  // until it ended, or was ended
  std::string output;  // of stdout and stderr, the first MiB

  bool ended_by_signal() const { return code > 128; }
};

class ShellCommand {
 public:
  // {} in `text` stands for the graph's file, {tensors} for one of its inputs' values. Fails
  // without a {}.
  static Result<ShellCommand> parse(std::string text);

  bool wants_tensors() const;

  // Writes the graph into a file, in text form, and runs the command by the shell. Longer runs than
  // `limit_seconds` are ended. `tensors`: bytes of the file of inputs. Fails where the shell can't
  // find or start the command (exit 126, 127).
  Result<ShellRun> run(const Graph& graph, std::string_view tensors = {},
                       std::optional<double> limit_seconds = {}) const;

 private:
  explicit ShellCommand(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// The check that a graph passes where the command's exit code is 0.
Result<GraphCheck> shell_check(const std::string& command);

}  // namespace recut::native

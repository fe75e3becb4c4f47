// Finds the graphs in a text: a printed graph, several in a row, or the lines of a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/printed_lines.h"

namespace recut {

enum class PrintedForm : std::uint8_t {
  plain,  // as print_readable gives it
  log,    // TORCH_LOGS: every line has a prefix, and lines of other origin stand between
  trace   // TORCH_TRACE: every line of the payload has a tab before it
};

// One graph of a file: nothing of its text is copied.
struct PrintedSource {
  std::string key;         // unique in the file: "0/0/aot_joint_graph"
  std::string kind;        // "aot_joint_graph"; of a plain text, the class's name
  std::string compile_id;  // "0/0", or ""
  PrintedForm form = PrintedForm::plain;
  std::size_t begin = 0, end = 0;  // bytes in the file, from the class's line
  std::uint32_t line = 1;          // of `begin`
  std::string stream;              // of a log: the common part of its lines' prefixes
  std::vector<std::size_t>
      parts;  // of a matched joint graph: its forward's and backward's positions
};

// Graphs of a plain text or a log, in the order of the file.
std::vector<PrintedSource> find_printed_graphs(std::string_view text);

// The lines of one graph.
PrintedLines lines_of(std::string_view text, const PrintedSource& source);

// Appends "#2", "#3", … to keys that stand there already. Two graphs of a compilation may be of one
// kind, as those of forward and backward after Inductor's last passes.
void make_keys_unique(std::vector<PrintedSource>& sources);

// The default graph: the first joint graph, else the first that was matched, else the first forward
// graph.
const PrintedSource& first_choice(const std::vector<PrintedSource>& sources);

}  // namespace recut

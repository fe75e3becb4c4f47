// Programs of torch.export (schema version 8, PyTorch 2.6 to 2.11) as forward graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/json.h"
#include "engine/support/result.h"

namespace recut {

// A placeholder whose value the archive has, and the name of that value in it.
struct ExportedInput {
  std::string placeholder, name;
};

struct ExportedProgram {
  std::string json;                   // an fx-joint-graph with this one graph
  std::vector<std::uint32_t> places;  // of each line of `json`: bytes from the program's beginning
  std::vector<ExportedInput> held;    // parameters, buffers and constants
  std::string note;                   // of calls whose nested graphs became nodes

  // The diagnostics of `json` as those of `program`, the text that was read.
  void relocate(Diagnostics& diagnostics, std::string_view program) const;
};

// Reads the JSON of a program. Parameters and buffers keep their kinds, and values that the program
// writes to inputs follow the user's results. A program with gradients among its outputs becomes a
// joint graph. Fails if the text is no such program, or of another schema; `file_name` is for
// messages.
Result<ExportedProgram> read_exported_program(std::string_view program, std::string_view file_name,
                                              std::string_view model);

}  // namespace recut

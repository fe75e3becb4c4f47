// One class of a printed graph, as records of its statements: names are not resolved yet.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/json.h"
#include "engine/input/printed_lines.h"
#include "engine/input/printed_values.h"
#include "engine/support/result.h"

namespace recut {

// Classes within classes, the nested graphs of a graph.
inline constexpr int kMaxNestedGraphs = 8;

enum class PrintedKind : std::uint8_t { placeholder, attribute, call };

// Views are into the lines.
struct PrintedNode {
  PrintedKind kind = PrintedKind::call;
  std::string_view name;
  std::string target;               // as an fx-joint-graph has it: "aten.mm.default", "getitem"
  std::string arguments, keywords;  // items of a JSON list, members of an object
  std::string_view annotation;      // "" where there is none
  std::string_view comment;         // of a call, the one above it that names a line of source; of
                                    // a placeholder, AOTAutograd's: "# PlainAOTInput(idx=0)"
  std::vector<std::string_view> uses;
  bool real = false;  // a real number is among its arguments
  LineColumn place;
};

struct PrintedOutput {
  std::string json;          // a value
  std::string_view node;     // "" where it is none
  std::string_view comment;  // AOTAutograd's comment on it: "# PlainAOTOutput(idx=0)", or ""
};

struct PrintedModule {
  std::string_view name;
  LineColumn place, end;
  std::vector<PrintedNode> nodes;
  std::vector<PrintedOutput> outputs;
  bool flattened = false;  // forward() takes trees, as `primals` and `tangents`
  std::vector<PrintedModule> nested;
};

// Reads the class that the first line begins, and the classes in it. Ends before a line that stands
// no deeper than the first. Adds to `faults`, which name no file; after one the module is of no
// use.
PrintedModule read_printed_module(std::span<const PrintedLine> lines, Diagnostics& faults);

}  // namespace recut

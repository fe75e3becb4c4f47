// A printed graph as the text of an fx-joint-graph (graph_file.h): one meaning and one set of
// checks for both forms.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/input/json.h"
#include "engine/input/printed_module.h"
#include "engine/input/symbols.h"

namespace recut {

struct JointText {
  std::string json;
  std::vector<LineColumn> places;              // of each line of `json`, in the file that was read
  bool joint = false;                          // the key of the graph is `joint`; else `forward`
  std::string note;                            // assumptions about missing information
  std::set<std::string, std::less<>> symbols;  // in sizes of tensors
  LineColumn first_symbol;                     // the first value with one
};

// A graph doesn't print that it is a joint one. It is one if its inputs are trees of primals and
// tangents, or if all inputs are primals and tangents and the outputs that remain before one
// gradient for each primal don't depend on a tangent. Faults name no file.
Result<JointText> write_joint_text(const PrintedModule& module,
                                   const std::map<std::string, Symbol, std::less<>>& symbols);

}  // namespace recut

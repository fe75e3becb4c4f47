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

// Names of a joint graph's nodes that PyTorch's partition tells apart; saved ones may be inputs.
struct SavedNames {
  std::vector<std::string> saved;       // tensors that forward hands to backward
  std::vector<std::string> recomputed;  // nodes that both graphs compute
};

// True if forward's outputs stand before the gradients in it.
bool is_joint_module(const PrintedModule& module);

// A graph doesn't print that it is a joint one. It is one if its inputs are trees of primals and
// tangents, or if all inputs are primals and tangents and the outputs that remain before one
// gradient for each primal don't depend on a tangent. `torch` may be null: PyTorch's saved
// values, the file's default partition. Faults name no file.
Result<JointText> write_joint_text(const PrintedModule& module,
                                   const std::map<std::string, Symbol, std::less<>>& symbols,
                                   const SavedNames* torch = nullptr);

}  // namespace recut

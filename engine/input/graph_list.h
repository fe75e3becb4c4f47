// The graphs that a file holds, to choose from: one row each, without building them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut {

struct GraphEntry {
  std::string key;         // opens it; "" in the text form
  std::string compile_id;  // "0/0", or ""
  std::string kind;        // "joint", "forward", "backward", "forward, post-grad", …
  std::int64_t nodes = 0;  // calls, as the file has them
  std::int64_t inputs = 0;
  bool opens_first = false;  // the graph that opens if none is named
  std::string fault;         // why it can't be read, or ""
};

// True if a text begins as one of the forms, or has a printed graph in it.
bool looks_like_graphs(std::string_view text);

// Reads any form of graph file. Graphs stand by compilation, joint ones first and those with a
// fault last, else in the order of the file. Fails on a file that holds none. Cost: one reading of
// each graph's text.
Result<std::vector<GraphEntry>> list_graphs(std::string_view bytes, std::string_view file_name);

}  // namespace recut

// The list of a file's graphs as a table, and for scripts.
#pragma once

#include <string>
#include <vector>

#include "engine/input/graph_list.h"

namespace recut {

// One row each; a '*' marks the graph that opens if none is named.
std::string graph_list_text(const std::vector<GraphEntry>& graphs);

// [{"key", "compile_id", "kind", "nodes", "inputs", "opens_first", "fault"}]: `fault` only where
// there is one.
std::string graph_list_json(const std::vector<GraphEntry>& graphs);

}  // namespace recut

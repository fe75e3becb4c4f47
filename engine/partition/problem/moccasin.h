// The graphs that Moccasin (Bartan et al., ICML 2023) published with its rematerialisation results:
// node-link JSON as networkx writes it. A node has a time and one output; there is no boundary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/partition/problem/remat_problem.h"
#include "engine/support/result.h"

namespace recut {

struct MoccasinProblem {
  RematProblem problem;            // `order`: the file's own, else topological
  std::vector<std::string> names;  // by computation: the node's id, as the file writes it
  std::vector<bool> numeric;       // by computation: the file writes the id as a number
  std::string name;                // of the graph; "" where the file has none
};

// True for JSON with nodes and links at the top, as networkx writes it.
bool is_node_link(std::string_view bytes);

// Nodes have `id` (or `name`), bytes in `cost_ram` (or `out_cost`) and time in `cost_cpu` (or
// `duration`), in any unit; links have `source` and `target` (or `0` and `1`). Repeated links count
// once. Fails on anything else, with a diagnostic: a cycle, an order that isn't one, negative
// numbers, sums beyond 2^60.
Result<MoccasinProblem> parse_moccasin(std::string_view json_text, std::string_view file_name);

}  // namespace recut

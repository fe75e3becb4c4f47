// Checks the derivatives of one small graph of f64 values against differences of its own results.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::test {

// A sample: its inputs, and one call or several.
//
//   a:2,3 p:3+ i:4<3 | index_select(%a, 0, %i)
//   a:3,3 | %t = permute(%a, [1, 0]); mm(%a, %t)
//
// An input is NAME:SIZES and what its values are: nothing, reals about 0; `+` in [0.5, 1.5]; `u` in
// [0.1, 0.9]; `s` away from 0; `d` far apart from each other; `<n` integers in [0, n), `<n=` the
// integers 0, 1, … n - 1 over and over; `?` bools. A capital letter names a real input that no
// derivative is taken by. The last call's real outputs are the results.
Result<Graph> sample_graph(std::string_view sample);

// What is wrong with the graph's derivatives, one a line; empty where all is well:
//   - every gradient against central differences (1e-6);
//   - forward mode against differences along a direction, and u·(J v) = (J^T u)·v;
//   - twice: forward mode of the joint graph against differences of the gradients, and reverse
//     mode of the gradients against that.
enum class Depth { both_modes, twice };
std::string derivative_faults(const Graph& graph, Depth depth);

// The operators of a graph's calls, and those of its joint graph.
std::set<std::string> operators_in(const Graph& graph);

}  // namespace recut::test

// Graphs and values that stand in a test, by eval and by kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "tests/codegen/run_kernels.h"

namespace recut::test {

using Numbers = std::vector<double>;
using GivenNumbers = std::map<std::string, Numbers>;  // of inputs by name

// Lines of the text form.
Graph graph_of(const std::string& lines);

// In memory as the types say. An input that is not given is 0, 1, 2, …
Inputs given_inputs(const Graph& graph, const GivenNumbers& given);

// All outputs, one after another.
Numbers evaluated(const Graph& graph, const GivenNumbers& given);
Numbers by_kernels(const Graph& graph, const GivenNumbers& given, KernelRunOptions options = {});

// The first mismatch of any available executor with these numbers, in relative terms; 0 and NaN
// have to match. CUDA needs a compiler, and takes a while.
std::string wrong_numbers(const Graph& graph, const GivenNumbers& given, const Numbers& expected,
                          bool as_cuda = false);

// Returns why the graph does not lower; "" where it does.
std::string refusal(const Graph& graph, const GivenNumbers& given);

}  // namespace recut::test

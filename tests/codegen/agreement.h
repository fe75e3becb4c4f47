// Graphs as kernels, against the interpreter of graphs.
#pragma once

#include <string>
#include <vector>

#include "tests/codegen/run_kernels.h"

namespace recut::test {

// True for a graph of formulas only: without sums the exact lowering is bit-exact with eval.
bool sums_nothing(const Graph& graph);

// "" where the outputs of a compiled step are the interpreter's, up to rounding as `run --check` has
// it (engine/eval/accuracy.h); otherwise the first output that is not.
std::string rounding_exceeded(const Graph& graph, const Inputs& inputs,
                              const std::vector<Tensor>& found,
                              const std::vector<Tensor>& expected);

// What is wrong with running this graph by kernels: by the loop form's interpreter in both
// precisions, and where `as_code` as machine code, as WebAssembly where there is a node, and of
// some graphs as CUDA where there is a compiler (cuda_on_cpu.h). "" where every output is eval's,
// to the bit where nothing is summed, else up to rounding; a refusal where an operator
// doesn't lower, or eval takes no such data.
std::string disagreement(const Graph& graph, const Inputs& inputs, KernelRunOptions options,
                         bool as_code = false);

bool is_refusal(const std::string& disagreement);

// The same with NaN, infinities, zeros of both signs and extremes, to the bit, where nothing is
// summed and the interpreter takes such data.
std::string edge_disagreement(const Graph& graph);

}  // namespace recut::test

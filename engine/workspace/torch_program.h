// A graph as a Python file that runs it in PyTorch, call by call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

struct TorchProgramOptions {
  std::uint64_t seed = 0;  // of drawn inputs: the same numbers as inputs_from draws
  std::string data;        // a safetensors file with the inputs in.<name>; "": draw all
};

struct TorchProgram {
  std::string text;
  // A line for each call that PyTorch can't run, or runs with other random numbers.
  std::vector<std::string> notes;
};

// The file needs PyTorch alone. It prints the norm of each output, and compares with a safetensors
// file of outputs (out.<position>) where that is beside it. A call without an operator in PyTorch
// raises NotImplementedError.
TorchProgram torch_program(const Graph& graph, const TorchProgramOptions& options);

}  // namespace recut

// What a compiled step shows to C: names and types of what goes in and what comes out.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/program.h"

namespace recut::aot {

struct InterfaceTensor {
  std::string name;        // in the graph
  std::string enumerator;  // "MLP_IN_W1"
  std::string kind;        // parameter, input, tangent, constant; result, gradient
  TensorType type;         // with the strides that its memory has
  NodeId node;
};

struct Interface {
  std::string prefix;                    // of every name: "mlp"
  std::vector<InterfaceTensor> inputs;   // the graph's, in order, then its constants
  std::vector<InterfaceTensor> outputs;  // row by row; gradients that don't exist are left out
  std::vector<std::size_t> positions;    // by output: in Program::outputs
  std::size_t results = 0;               // the first so many outputs

  std::string upper() const;  // the prefix in capitals
};

// `prefix`: an identifier.
Interface interface_of(const Graph& graph, const Program& program, const std::string& prefix);

// A graph's or file's name as an identifier of C, in small letters.
std::string identifier_of(std::string_view name);

}  // namespace recut::aot

// The C interface of a compiled step: names and types of its inputs and outputs.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/program.h"

namespace recut::aot {

struct InterfaceTensor {
  std::string name;        // in the graph
  std::string enumerator;  // "MLP_IN_W1"
  std::string kind;        // parameter, input, tangent, constant; result, gradient
  TensorType type;         // with its strides in memory
  NodeId node;
};

struct Interface {
  std::string prefix;                    // of every name: "mlp"
  bool inference = false;                // of a forward graph: there is no backward to call
  std::vector<InterfaceTensor> inputs;   // the graph's, in order, then its constants
  std::vector<InterfaceTensor> outputs;  // dense; missing gradients are left out
  std::vector<std::size_t> positions;    // of each output in Program::outputs
  std::size_t results = 0;               // how many of the outputs are results; they come first

  std::string upper() const;  // the prefix in capitals
};

// `prefix`: an identifier.
Interface interface_of(const Graph& graph, const Program& program, const std::string& prefix);

// The name of a graph or file as a C identifier in lower case.
std::string identifier_of(std::string_view name);

}  // namespace recut::aot

// The C interface of a compiled step: names and types of its inputs and outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/input/safetensors.h"
#include "engine/runtime/program.h"

namespace recut::aot {

struct InterfaceTensor {
  std::string name;        // in the graph
  std::string enumerator;  // "MLP_IN_W1"
  std::string kind;        // parameter, input, tangent, constant; result, mutation, gradient
  TensorType type;         // with its strides in memory
  NodeId node;
  std::optional<std::size_t> mutates;  // of a mutation, the number of the input that it is the new
                                       // value of; it has that input's strides
  std::optional<std::size_t> storage;  // the number of the input in whose storage PyTorch has a
                                       // result, as a view of it or as its new value
};

// An input whose value stands in the file of weights, in the strides that kernels read.
struct WeightPlace {
  std::size_t input = 0;
  std::int64_t offset = 0;
};

struct Interface {
  std::string prefix;                    // of every name: "mlp"
  bool inference = false;                // of a forward graph: there is no backward to call
  std::vector<InterfaceTensor> inputs;   // the graph's, in order, then its constants
  std::vector<InterfaceTensor> outputs;  // dense; missing gradients are left out
  std::vector<std::size_t> positions;    // of each output in Program::outputs
  std::size_t results = 0;               // how many of the outputs are results; they come first
  std::vector<WeightPlace> weights;      // where the file of weights has inputs; none: no file
  std::int64_t weights_bytes = 0;        // of that file
  bool weights_inside = false;           // the library holds that file's bytes

  bool mutates_inputs() const;
  bool mutates_weights() const;  // inputs whose values stand in the file of weights
  std::string upper() const;     // the prefix in capitals
};

// `prefix`: an identifier.
Interface interface_of(const Graph& graph, const Program& program, const std::string& prefix);

// Lays out the file of weights: of each input that has a value. Returns its bytes.
std::string place_weights(const Graph& graph, std::span<const NamedTensor> values,
                          Interface& interface);

// The name of a graph or file as a C identifier in lower case.
std::string identifier_of(std::string_view name);

}  // namespace recut::aot

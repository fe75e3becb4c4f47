// The values of a graph's nodes, from which a reduced graph gets its inputs: a call that became a
// constant has the value that it had.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::native {

class ReducedInputs {
 public:
  // Evaluates the graph on these tensors (in.<name>); `seed` draws missing ones. Where it can't be
  // evaluated, calls have no values, and note() says why. Fails if the tensors don't fit.
  static Result<ReducedInputs> of(const Graph& graph, std::span<const NamedTensor> tensors,
                                  std::uint64_t seed);

  const std::string& note() const { return note_; }

  // The inputs and constants of a reduced graph, as a safetensors file. A value with smaller
  // dimensions is the first part of the value that was there. Of other values there is none.
  std::string file_for(const Graph& reduced) const;

  // Other values in its place: all zeros, all ones, or the nearest whole numbers. False if they are
  // the same.
  enum class Simpler : std::uint8_t { zeros, ones, whole };
  bool simplify(const std::string& name, Simpler how);

 private:
  struct Value {
    DType dtype = DType::none;
    Shape shape;
    std::string bytes;  // row-major, little-endian
  };
  std::map<std::string, Value> values_;
  std::string note_;
};

}  // namespace recut::native

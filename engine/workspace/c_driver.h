// A C program that runs a step which `recut compile` made, on the inputs of a debug bundle.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"

namespace recut {

// The prefix of the library's functions.
inline constexpr const char* kDriverPrefix = "graph";

// C11 on the header graph.h. Inputs are read from `file`, a safetensors file of the bytes `data`
// with in.<name>; missing ones are drawn by the seed, as inputs_from draws them. It prints the norm
// of each output.
Result<std::string> c_driver(const Graph& graph, std::uint64_t seed, std::string_view data,
                             std::string_view file);

}  // namespace recut

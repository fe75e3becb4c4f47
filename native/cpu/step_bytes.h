// Serializes a compiled step, without its object code, to keep it between runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/llvm/emit.h"
#include "engine/runtime/program.h"
#include "native/cache/digest.h"

namespace recut::cpu {

// Kernels have names, locations and buffers, but no bodies: those are the object code.
struct KeptStep {
  Program program;
  std::vector<std::vector<loop::Stage>> kernels;
  std::vector<std::string> faults;
  cache::Digest object;  // key of the object code
};

std::string bytes_of(const Graph& graph, KeptStep step);

// The step of an equal graph. None where the bytes are no step.
std::optional<KeptStep> step_of(const Graph& graph, std::string_view bytes);

}  // namespace recut::cpu

// The JSON by which a host runs a step's WebAssembly module: memory, launches, outputs.
#pragma once

#include <string>

#include "engine/codegen/wasm/emit.h"
#include "engine/runtime/program.h"

namespace recut::native {

// The module's needs, inputs, kernels with their buffers and stages, launches in order, and
// outputs. A location is {"arena": bytes} or {"input": its number}.
std::string module_json(const Graph& graph, const Program& program, const wasm::Module& module,
                        const wasm::Options& options);

}  // namespace recut::native

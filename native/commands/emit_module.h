// What a host has to know to run a step's module of WebAssembly: memory, launches, outputs.
#pragma once

#include <string>

#include "engine/codegen/wasm/emit.h"
#include "engine/runtime/program.h"

namespace recut::native {

// As JSON: the module's needs, inputs, kernels with their buffers and stages, launches in order,
// and outputs. A place is {"arena": bytes} or {"input": its number}.
std::string module_json(const Graph& graph, const Program& program, const wasm::Module& module,
                        const wasm::Options& options);

}  // namespace recut::native

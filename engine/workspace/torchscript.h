// A graph in the syntax of TorchScript's IR, as torch._C.parse_ir reads it.
#pragma once

#include <string>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// Inputs and constants of the graph are inputs, in order; it returns results, then gradients (None
// where there is none). Operators have no overload names there: TorchScript chooses by the types of
// the operands, all of which are written. Each call without a form in TorchScript is one
// diagnostic.
Result<std::string> torchscript(const Graph& graph);

}  // namespace recut

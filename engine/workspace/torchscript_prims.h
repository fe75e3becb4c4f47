// Operators that Inductor has and TorchScript lacks, in operators of ATen with the same values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"
#include "engine/workspace/torchscript_body.h"

namespace recut {

// A call to be written: the arguments by position, and the declared values, "%y : Float(2)".
struct ScriptCall {
  const Graph& graph;
  NodeId id;
  std::function<std::string(std::size_t)> operand;
  std::vector<std::string> values;
  ScriptBody& body;
};

// Writes the call; nullopt where TorchScript has the operator itself or there is no form for it.
// Fails where the form's values would differ.
std::optional<Result<Done>> write_prims_call(const ScriptCall& call);

// A conversion to a dtype, given as its number.
void write_conversion(const ScriptCall& call);

}  // namespace recut

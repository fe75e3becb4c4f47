// One call of an operator on tensors of known types: the unit that is compiled, kept and found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/input/composite_operators.h"
#include "engine/ir/graph.h"
#include "engine/ir/operator.h"
#include "engine/support/result.h"
#include "native/operators/given_arguments.h"

namespace recut::operators {

struct OperatorCall {
  const Operator* op = nullptr;                  // of the table, or a composite's row
  const CompositeOperator* composite = nullptr;  // whose calls are compiled as one kernel
  std::vector<Argument> arguments;      // one a parameter, with defaults; a node counts `tensors`
  std::vector<TensorArgument> tensors;  // with names, in the order of the parameters
  std::string device;                   // of the first tensor; "cpu" without one
};

// Resolves a name: "aten.add.Tensor", "aten::add.Tensor", "add.Tensor", or "aten.add" without an
// overload, which is then the first one that takes the arguments. Composites (aten.linear) and
// other names (aten.multiply.Tensor) are those of graph files. Fails where there is no such
// operator, or no overload takes them, with the reason of each.
Result<OperatorCall> resolve_call(std::string_view name, GivenArguments given);

// Fails with the reason where no kernel can be compiled for the call: tensors of another device or
// of dtypes without arithmetic, generators and layouts, and outputs whose sizes depend on values.
Result<Done> check_compilable(const OperatorCall& call);

// A forward graph of that one call: its tensors are inputs, its outputs are results.
Result<Graph> graph_of(const OperatorCall& call);

}  // namespace recut::operators

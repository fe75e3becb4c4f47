// Makes one copy of a copy of a copy.
//
//   %a = clone(%x)
//   %b = permute(%a, [0, 2, 1])           %b = permute(%x, [0, 2, 1])
//   %c = clone(%b, contiguous)     =>     %c = clone(%b, contiguous)
//
// Needs no views of views between the two (view_chains). Establishes: no contiguous copy reads a
// permuted copy; where the one that is left copies nothing but its operand, noop_removal takes it.
// The rows are rules/copies.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult copies(const Graph& graph) { return run_rules(graph, builtin_rules("copies")); }

}  // namespace recut::passes

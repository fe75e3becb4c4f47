// Makes one copy of a copy of a copy.
//
//   %a = clone(%x)
//   %b = permute(%a, [0, 2, 1])           %b = permute(%x, [0, 2, 1])
//   %c = clone(%b, contiguous)     =>     %c = clone(%b, contiguous)
//
//   %a = slice.Tensor(%x, 0, 0, 3)
//   %b = slice.Tensor(%x, 0, 3, 8)
//   %c = cat([%a, %b])             =>     %x
//
// Needs no views of views between the two (view_chains). Establishes: no contiguous copy reads a
// permuted copy, nor puts two or three parts of a value together as they were; where the one that
// is left copies nothing but its operand, noop_removal takes it.
// The rows are rules/copies.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult copies(const Graph& graph) { return run_rules(graph, builtin_rules("copies")); }

}  // namespace recut::passes

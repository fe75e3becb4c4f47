// Decomposes composite operators into simple ones (PyTorch's decompositions).
//
//   %y = _softmax(%x, 1, false)          %m = amax(%x, [1], true)
//                                        %d = sub.Tensor(%x, %m)
//                                 =>     %e = exp(%d)
//                                        %s = sum.dim_IntList(%e, [1], true)
//                                        %y = div.Tensor(%e, %s)
//
// Needs nothing; passes that match composite operators (attention, conv_bn_eval) run before. For
// f32 and f64; in f16 and bf16 only gelu and silu change, to those of f32 between two conversions.
// Establishes: none of the operators in rules/decompositions.rules is left if its operands have one
// dtype; code generation then sees element-wise calls and reductions only. Not bit-exact, and gives
// the planner more values to choose from.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult decompositions(const Graph& graph) {
  return run_rules(graph, builtin_rules("decompositions"));
}

}  // namespace recut::passes

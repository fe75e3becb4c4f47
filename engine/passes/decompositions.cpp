// Makes simple operators of composite ones.
//
//   %y = _softmax(%x, 1, false)          %m = amax(%x, [1], true)
//                                        %d = sub.Tensor(%x, %m)
//                                 =>     %e = exp(%d)
//                                        %s = sum.dim_IntList(%e, [1], true)
//                                        %y = div.Tensor(%e, %s)
//
// Needs nothing; what recognises composite operators (attention, conv_bn_eval) runs before. For
// f32 and f64: of f16 and bf16 gelu and silu become those of f32 between two conversions, all else
// stays. Establishes: none of the operators that rules/decompositions.rules names is left, where
// its operands are of one dtype; code generation then has element-wise calls and reductions alone.
// Does not keep every bit, and makes more values for a plan to weigh.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult decompositions(const Graph& graph) {
  return run_rules(graph, builtin_rules("decompositions"));
}

}  // namespace recut::passes

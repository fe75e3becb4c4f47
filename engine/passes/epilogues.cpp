// Lets matrix products do what follows them, where their library does it before it stores.
//
//   %m = mm(%x, %w)                               %y = addmm(view(%r, [n, c]), %x, %w)
//   %y = add.Tensor(view(%m, shape(%r)), %r)  =>  … seen in the shape of %r
//   %h = addmm(%b, %x, %w)
//   %y = relu(%h)                             =>  %y = _addmm_activation(%b, %x, %w)
//
// Needs view_chains. Establishes: no residual is added to a product without a bias that nobody else
// reads, and no product with a bias is rectified behind it. Does not keep every bit: a product that
// is added to is rounded once. It is for cards, whose cuBLASLt has these epilogues; a processor's
// library has them not, and loops fuse the addition with what follows. With a bias and a residual,
// the residual stays with the norm that reads the sum. The rows are rules/epilogues.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult epilogues(const Graph& graph) { return run_rules(graph, builtin_rules("epilogues")); }

}  // namespace recut::passes

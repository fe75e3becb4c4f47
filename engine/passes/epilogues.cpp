// Fuses residual additions and ReLU into matrix products, as epilogues of a GPU's library.
//
//   %m = mm(%x, %w)                               %y = addmm(view(%r, [n, c]), %x, %w)
//   %y = add.Tensor(view(%m, shape(%r)), %r)  =>  … seen in the shape of %r
//   %h = addmm(%b, %x, %w)
//   %y = relu(%h)                             =>  %y = _addmm_activation(%b, %x, %w)
//
// Needs view_chains. Establishes: no product without a bias and with one reader is followed by a
// residual addition, and no product with a bias by a ReLU. Not bit-exact: product and sum are
// rounded once. For GPUs, whose cuBLASLt has these epilogues; CPU libraries lack them, and
// generated loops fuse the addition with its readers. With a bias and a residual, the residual
// stays with the norm that reads the sum. The rules are rules/epilogues.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult epilogues(const Graph& graph) { return run_rules(graph, builtin_rules("epilogues")); }

}  // namespace recut::passes

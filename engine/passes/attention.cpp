// Makes one operator of attention that is written out, and one of its gradients.
//
//   %s = bmm(%q, %k)                      %a = _scaled_dot_product_efficient_attention(%q, %k, %v,
//   …) %p = softmax of %s, scaled, masked    %o = getitem(%a, 0) %o = bmm(%p, %v)                =>
//   … …                                     %g = …_attention_backward(%do, %q, %k, %v, …) %dv =
//   bmm(%p^T, %do)                  %dv = getitem(%g, 2) … %dq, %dk
//
// Needs views and no-ops to be gone (noop_removal, view_chains). Establishes: attention with or
// without a mask and dropout, in f32, is one operator a layer forward and one backward, if nobody
// else reads the scores or the probabilities. Its results are copies in the layout that they had;
// view_chains, copies and noop_removal afterwards leave only those that move something. Does not
// keep every bit. The rows are rules/attention.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult attention(const Graph& graph) { return run_rules(graph, builtin_rules("attention")); }

}  // namespace recut::passes

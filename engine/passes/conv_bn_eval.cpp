// Computes a convolution and the batch norm by running statistics after it as one convolution, with
// weights that are computed in every step.
//
//   %c = convolution(%x, %w, %b, …)
//   %n = _native_batch_norm_legit_no_training(%c, %g, %h, %mean, %var, …, eps)
//   %y = getitem(%n, 0)
//                                   =>   %s = mul(%g, rsqrt(%var + eps))
//                                        %y = convolution(%x, %w * %s, (%b - %mean) * %s + %h, …)
//
// Needs: all operands in f32 or f64 alike; nobody else uses %c or the other outputs of %n; no
// groups where the convolution is transposed. Unlike conv_bn_folding it takes weights that are
// trained, and so belongs before `recut grad`: what it makes is differentiated, by the weights of
// both. Then the convolution's result, which is large, need not be kept for backward. Establishes:
// none of those is left. Not bit-exact. (Inductor's efficient_conv_bn_eval_pass; You et al., arXiv
// 2305.11624. It looks at the weight twice where it means the bias; here each operand is looked
// at.)
#include "engine/passes/freezing/conv_bn_folding.h"

namespace recut::passes {

PassResult conv_bn_eval(const Graph& graph) { return fold_batch_norms(graph, false); }

}  // namespace recut::passes

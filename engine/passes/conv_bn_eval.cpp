// Computes a convolution and the batch norm by running statistics after it as one convolution, with
// weights that are computed in every step.
//
//   %c = convolution(%x, %w, %b, …)
//   %n = _native_batch_norm_legit_no_training(%c, %g, %h, %mean, %var, …, eps)
//   %y = getitem(%n, 0)
//                                   =>   %s = mul(%g, rsqrt(%var + eps))
//                                        %y = convolution(%x, %w * %s, (%b - %mean) * %s + %h, …)
//
// Needs: all operands in f32 or f64 alike; %c and the other outputs of %n have no other users; no
// groups if the convolution is transposed. Unlike conv_bn_folding it takes trained weights, and so
// runs before `recut grad`: its result is differentiated by the weights of both. The convolution's
// large result then need not be saved for backward. Establishes: none of those is left. Not
// bit-exact. (Inductor's efficient_conv_bn_eval_pass; You et al., arXiv 2305.11624. Inductor checks
// the weight twice instead of the bias; here every operand is checked.)
#include "engine/passes/freezing/conv_bn_folding.h"

namespace recut::passes {

PassResult conv_bn_eval(const Graph& graph) { return fold_batch_norms(graph, false); }

}  // namespace recut::passes

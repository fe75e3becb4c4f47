// Multiplies whole numbers where both operands of a product are dequantised.
//
//   %x = dequantize_per_tensor(%p, sx, 0, …)
//   %w = dequantize_per_channel(%q, %s, none, 1, …)        %i = _int_mm(%p, %q)
//   %y = mm(%x, %w)                                  =>    %f = convert_element_type(%i, f32)
//                                                          %c = mul.Tensor(%s, sx)
//                                                          %y = mul.Tensor(%f, %c)
//
// and so do convolutions, by recut.int_convolution.
//
// Needs: i8, weights quantised around 0; the activation's zero point is taken away as the sums of
// the weight's columns, which freezing computes once, and by the convolution itself. Dequantising
// moves down past views and permutations first, to stand at the product, one for each of its
// readers (Inductor's dequantise promotion: here readers never had to own it). Establishes: no such
// product of f32 is left, and its weight stays one byte a number. Sums are exact where f32 rounded
// them: bits differ. Of what is not multiplied so fold_frozen makes dequantised f32 weights. The
// rows are rules/quantized_products.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult quantized_products(const Graph& graph) {
  return run_rules(graph, builtin_rules("quantized_products"));
}

}  // namespace recut::passes

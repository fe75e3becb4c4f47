// Multiplies integers instead of dequantised operands.
//
//   %x = dequantize_per_tensor(%p, sx, 0, …)
//   %w = dequantize_per_channel(%q, %s, none, 1, …)        %i = _int_mm(%p, %q)
//   %y = mm(%x, %w)                                  =>    %f = convert_element_type(%i, f32)
//                                                          %c = mul.Tensor(%s, sx)
//                                                          %y = mul.Tensor(%f, %c)
//
// and so do convolutions, by recut.int_convolution.
//
// Needs: i8, symmetric weights. The activation's zero point is corrected by the sums of the
// weight's columns, which freezing computes once, or by the convolution itself. Dequantisation
// first moves past views and permutations to the product, one for each reader (Inductor's
// dequantise promotion). Establishes: no such product of f32 is left, and its weight stays one byte
// a number. Not bit-exact: integer sums are exact, f32 sums are rounded. fold_frozen dequantises
// the remaining weights to f32. The rules are rules/quantized_products.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult quantized_products(const Graph& graph) {
  return run_rules(graph, builtin_rules("quantized_products"));
}

}  // namespace recut::passes

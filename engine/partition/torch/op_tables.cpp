#include "engine/partition/torch/op_tables.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace recut::torch {
namespace {

using Names = std::string_view;

constexpr Names kView[] = {"squeeze", "unsqueeze", "alias",  "view",
                           "slice",   "t",         "expand", "as_strided",
                           "permute", "select",    "split",  "prims.broadcast_in_dim"};

constexpr Names kRandom[] = {"native_dropout", "rand_like", "randn_like"};

constexpr Names kComputeIntensive[] = {"mm",
                                       "convolution",
                                       "convolution_backward",
                                       "bmm",
                                       "addmm",
                                       "_scaled_dot_product_flash_attention",
                                       "_scaled_dot_product_efficient_attention",
                                       "_flash_attention_forward",
                                       "_efficient_attention_forward",
                                       "upsample_bilinear2d",
                                       "_scaled_mm"};

// The allowlist, less the views above and the pointwise operators that are flagged so in Recut's
// own table. Names that Recut has no row for yet do no harm.
constexpr Names kRecomputable[] = {
    // reductions and their derivatives
    "max", "min", "sum", "mean", "amax", "any", "argmax", "var", "std", "var_mean", "prims.sum",
    "prims.var", "_grad_sum_to_size", "sum_to_size",
    // copies and conversions
    "clone", "to", "type_as", "_to_copy", "prims.convert_element_type", "_unsafe_view", "reshape",
    "broadcast_tensors", "lift_fresh_copy",
    // creation
    "full", "full_like", "scalar_tensor", "ones", "zeros", "zeros_like", "new_zeros", "empty",
    "empty_like", "arange", "prims.iota",
    // indexing
    "getitem", "index", "gather", "triu", "prims._low_memory_max_pool_offsets_to_indices",
    // pointwise
    "add", "sub", "rsub", "mul", "div", "prims.div", "pow", "remainder", "fmod", "atan2", "lerp",
    "addcmul", "where", "clamp", "maximum", "isinf", "eq", "ne", "ge", "gt", "le", "lt", "abs",
    "bitwise_not", "ceil", "floor", "frac", "neg", "relu", "round", "silu", "trunc", "log", "log10",
    "log1p", "log2", "lgamma", "exp", "expm1", "erf", "erfc", "cos", "acos", "cosh", "sin", "asin",
    "sinh", "tan", "atan", "tanh", "atanh", "sqrt", "rsqrt", "reciprocal", "sigmoid", "softplus",
    "threshold", "threshold_backward", "gelu", "gelu_backward", "__and__", "__or__", "__xor__",
    "__lshift__", "__rshift__"};

template <std::size_t N>
bool among(const Names (&names)[N], std::string_view packet) {
  return std::find(std::begin(names), std::end(names), packet) != std::end(names);
}

// PyTorch adds every aten packet with an overload tagged `pointwise`; it skips the prims, and
// `copy` has no tag.
bool tagged_pointwise(const Operator& op) {
  return op.is(OperatorFlag::kPointwise) && op.packet.substr(0, 6) != "prims." &&
         op.packet != "copy";
}

bool among(const std::vector<std::string>& names, std::string_view packet) {
  return std::find(names.begin(), names.end(), packet) != names.end();
}

// A view is free to recompute even where it isn't on the allowlist; fusion then ends at it.
OpTraits traits(const Operator& op, const TorchOptions& options) {
  OpTraits t;
  t.view = among(kView, op.packet);
  t.random = among(kRandom, op.packet);
  t.recomputable = t.view || among(kRecomputable, op.packet) || tagged_pointwise(op);
  t.recomputable = (t.recomputable && !among(options.not_recomputable, op.packet)) ||
                   among(options.recomputable, op.packet);
  t.fusible = t.recomputable || t.random;
  t.compute_intensive = among(kComputeIntensive, op.packet);
  t.concatenation = op.packet == "cat";
  t.lifted_constant = op.packet == "lift_fresh_copy" || op.packet == "lift_fresh";
  return t;
}

}  // namespace

OperatorMap<OpTraits> traits_by_operator(const TorchOptions& options) {
  OperatorMap<OpTraits> all;
  for (const Operator& row : all_operators()) all.set(row.op, traits(row, options));
  return all;
}

}  // namespace recut::torch

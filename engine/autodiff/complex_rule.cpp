#include "engine/autodiff/derivative_rule.h"
#include "engine/ir/operator_map.h"

// Rules not listed here read their operands as real numbers: they compare them, or split a function
// at a threshold. Extend these lists with a sample of complex numbers in tests/autodiff/samples.

namespace recut::autodiff {
namespace {

// Sums, selections and movements: real factors alone. The complex operators have rules of their own.
constexpr Op kPlain[] = {Op::add_Tensor,
                         Op::add_Scalar,
                         Op::prims_add,
                         Op::sub_Tensor,
                         Op::sub_Scalar,
                         Op::prims_sub,
                         Op::rsub_Tensor,
                         Op::rsub_Scalar,
                         Op::neg,
                         Op::positive,
                         Op::where_self,
                         Op::where_ScalarSelf,
                         Op::where_ScalarOther,
                         Op::clone,
                         Op::_to_copy,
                         Op::lift_fresh_copy,
                         Op::prims_convert_element_type,
                         Op::prims_device_put,
                         Op::copy,
                         Op::fill_Scalar,
                         Op::fill_Tensor,
                         Op::zero,
                         Op::sum,
                         Op::sum_dim_IntList,
                         Op::mean,
                         Op::mean_dim,
                         Op::alias,
                         Op::alias_copy,
                         Op::detach,
                         Op::view,
                         Op::reshape,
                         Op::_unsafe_view,
                         Op::_reshape_alias,
                         Op::view_copy,
                         Op::flatten_using_ints,
                         Op::unflatten_int,
                         Op::squeeze,
                         Op::squeeze_dim,
                         Op::squeeze_dims,
                         Op::squeeze_copy,
                         Op::squeeze_copy_dim,
                         Op::squeeze_copy_dims,
                         Op::unsqueeze,
                         Op::unsqueeze_copy,
                         Op::permute,
                         Op::permute_copy,
                         Op::transpose_int,
                         Op::transpose_copy_int,
                         Op::t,
                         Op::t_copy,
                         Op::expand,
                         Op::expand_copy,
                         Op::slice_Tensor,
                         Op::slice_copy_Tensor,
                         Op::narrow,
                         Op::narrow_copy,
                         Op::select_int,
                         Op::select_copy_int,
                         Op::split_Tensor,
                         Op::split_with_sizes,
                         Op::split_sizes,
                         Op::chunk,
                         Op::unbind_int,
                         Op::unbind_copy_int,
                         Op::diagonal,
                         Op::diagonal_copy,
                         Op::movedim_int,
                         Op::movedim_intlist,
                         Op::unfold,
                         Op::slice_backward,
                         Op::select_backward,
                         Op::diagonal_backward,
                         Op::unfold_backward,
                         Op::slice_scatter,
                         Op::select_scatter,
                         Op::constant_pad_nd,
                         Op::cat,
                         Op::stack,
                         Op::flip,
                         Op::roll,
                         Op::repeat,
                         Op::tril,
                         Op::triu,
                         Op::index_select,
                         Op::index_Tensor,
                         Op::gather,
                         Op::masked_fill_Scalar,
                         Op::masked_fill_Tensor,
                         Op::view_as_real,
                         Op::view_as_real_copy,
                         Op::view_as_complex,
                         Op::view_as_complex_copy,
                         Op::_conj,
                         Op::_conj_copy,
                         Op::_conj_physical,
                         Op::conj_physical,
                         Op::complex,
                         Op::polar,
                         Op::_fft_c2c,
                         Op::_fft_r2c,
                         Op::_fft_c2r,
                         Op::_scaled_mm};

constexpr Op kConjugated[] = {
    Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul,  Op::div_Tensor, Op::div_Scalar,
    Op::prims_div,  Op::addcmul,    Op::addcdiv,    Op::square,     Op::pow_Tensor_Scalar,
    Op::exp,        Op::exp2,       Op::log,        Op::log2,       Op::log10,
    Op::sqrt,       Op::rsqrt,      Op::reciprocal, Op::sin,        Op::cos,
    Op::tan,        Op::asin,       Op::acos,       Op::atan,       Op::sinh,
    Op::cosh,       Op::asinh,      Op::acosh,      Op::atanh,      Op::mm,
    Op::bmm,        Op::addmm,      Op::baddbmm,    Op::mv};

constexpr Op kTransposed[] = {Op::abs, Op::angle, Op::sgn};

OperatorMap<ComplexRule> complex_rules_by_operator() {
  OperatorMap<ComplexRule> rules{ComplexRule::none};
  for (const Op op : kPlain) rules.set(op, ComplexRule::plain);
  for (const Op op : kConjugated) rules.set(op, ComplexRule::conjugated);
  for (const Op op : kTransposed) rules.set(op, ComplexRule::transposed);
  return rules;
}

}  // namespace

ComplexRule complex_rule(Op op) {
  static const OperatorMap<ComplexRule> rules = complex_rules_by_operator();
  if (const ComplexRule rule = rules[op]; rule != ComplexRule::none) return rule;
  const DerivativeRule* rule = find_derivative_rule(op);
  return rule != nullptr && rule->kind == DerivativeKind::constant ? ComplexRule::plain
                                                                   : ComplexRule::none;
}

}  // namespace recut::autodiff

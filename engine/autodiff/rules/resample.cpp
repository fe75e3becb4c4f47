// Resampling: linear in the image.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

using Ints = std::vector<std::int64_t>;

// Parameters that an operator and its backward share beyond the image, behind `arguments`.
void add_shared(VjpContext& ctx, const Operator& target, Positional& arguments) {
  for (std::size_t i = arguments.size(); i < target.parameters.size(); ++i)
    arguments.push_back(ctx.given(target.parameters[i].name));
}

template <Op backward>
Value resampled(VjpContext& ctx) {
  Positional arguments = {ctx.grad(), ctx.given("output_size"), ctx["self"].shape()};
  add_shared(ctx, operator_of(backward), arguments);
  return ctx.b(backward, arguments);
}

template <Op forward>
Value resample_again(VjpContext& ctx) {
  Positional arguments = {ctx.grad(), ctx.given("output_size")};
  add_shared(ctx, operator_of(forward), arguments);
  return ctx.b(forward, arguments);
}

// The .vec overloads name a size, or a factor for each dimension.
template <Op plain>
std::vector<Value> by_vector(VjpContext& ctx) {
  const Shape& out = ctx.out_type().shape;
  Positional arguments = {ctx["input"], Ints(out.begin() + 2, out.end())};
  const Operator& row = operator_of(plain);
  if (row.parameter("align_corners")) arguments.push_back(ctx.given("align_corners"));
  const auto* factors = ctx.call().argument("scale_factors").get<ArgumentList>();
  for (std::size_t i = 0; arguments.size() < row.parameters.size(); ++i)
    arguments.push_back(factors != nullptr && i < factors->size() ? CallArgument((*factors)[i])
                                                                  : CallArgument(None{}));
  return {ctx.b(plain, arguments)};
}

template <Op forward, Op vector, Op backward>
void add_resampling(DerivativeRules& rows) {
  rows.push_back(linear({forward}, {{"self", resampled<backward>}}));
  rows.push_back(linear({backward}, {{"grad_output", resample_again<forward>}}));
  rows.push_back(decomposes({vector}, by_vector<forward>));
}

}  // namespace

DerivativeRules resample_rules() {
  DerivativeRules rows;
  add_resampling<Op::upsample_nearest1d, Op::upsample_nearest1d_vec,
                 Op::upsample_nearest1d_backward>(rows);
  add_resampling<Op::upsample_nearest2d, Op::upsample_nearest2d_vec,
                 Op::upsample_nearest2d_backward>(rows);
  add_resampling<Op::upsample_nearest3d, Op::upsample_nearest3d_vec,
                 Op::upsample_nearest3d_backward>(rows);
  add_resampling<Op::_upsample_nearest_exact1d, Op::_upsample_nearest_exact1d_vec,
                 Op::_upsample_nearest_exact1d_backward>(rows);
  add_resampling<Op::_upsample_nearest_exact2d, Op::_upsample_nearest_exact2d_vec,
                 Op::_upsample_nearest_exact2d_backward>(rows);
  add_resampling<Op::_upsample_nearest_exact3d, Op::_upsample_nearest_exact3d_vec,
                 Op::_upsample_nearest_exact3d_backward>(rows);
  add_resampling<Op::upsample_linear1d, Op::upsample_linear1d_vec, Op::upsample_linear1d_backward>(
      rows);
  add_resampling<Op::upsample_bilinear2d, Op::upsample_bilinear2d_vec,
                 Op::upsample_bilinear2d_backward>(rows);
  add_resampling<Op::upsample_trilinear3d, Op::upsample_trilinear3d_vec,
                 Op::upsample_trilinear3d_backward>(rows);
  add_resampling<Op::upsample_bicubic2d, Op::upsample_bicubic2d_vec,
                 Op::upsample_bicubic2d_backward>(rows);
  add_resampling<Op::_upsample_bilinear2d_aa, Op::_upsample_bilinear2d_aa_vec,
                 Op::_upsample_bilinear2d_aa_backward>(rows);
  add_resampling<Op::_upsample_bicubic2d_aa, Op::_upsample_bicubic2d_aa_vec,
                 Op::_upsample_bicubic2d_aa_backward>(rows);
  return rows;
}

}  // namespace recut::autodiff

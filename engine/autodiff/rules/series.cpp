// Tensors made from a few numbers that are themselves values: ends of a range, bases of powers.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// start + (end - start) i / (steps - 1), in the output's dtype.
Value evenly_spaced(VjpContext& ctx) {
  const DType dtype = ctx.out_type().dtype;
  const auto bound = [&](std::string_view name) {
    const Value given = ctx[name];
    return given.valid() ? ctx.b.convert(given, dtype)
                         : ctx.b.full({}, ctx.call().argument(name), dtype, ctx.out_type().device);
  };
  const Value start = bound("start"), end = bound("end");
  const Value part = ctx.b(Op::linspace, {0, 1, ctx.given("steps")}, {{"dtype", dtype}});
  return start + (end - start) * part;
}

std::vector<Value> linspace(VjpContext& ctx) { return {evenly_spaced(ctx)}; }

std::vector<Value> logspace(VjpContext& ctx) {
  return {ctx.b(Op::pow_Scalar, {ctx.real("base"), evenly_spaced(ctx)})};
}

// x to the powers 0 … N - 1, the largest first unless `increasing`.
std::vector<Value> vander(VjpContext& ctx) {
  const Value x = ctx.b.convert(ctx["x"], ctx.out_type().dtype);
  const std::int64_t count = ctx.out_type().shape.back();
  Value powers = ctx.b(Op::arange, {count}, {{"dtype", x.dtype()}});
  if (!ctx.boolean("increasing")) powers = ctx.b(Op::flip, {powers, {0}});
  return {ctx.b(Op::pow_Tensor_Tensor, {ctx.b(Op::unsqueeze, {x, -1}), powers})};
}

}  // namespace

DerivativeRules series_rules() {
  return {
      decomposes(
          {Op::linspace_Tensor_Tensor, Op::linspace_Tensor_Scalar, Op::linspace_Scalar_Tensor},
          linspace),
      decomposes(
          {Op::logspace_Tensor_Tensor, Op::logspace_Tensor_Scalar, Op::logspace_Scalar_Tensor},
          logspace),
      decomposes({Op::vander}, vander),
  };
}

}  // namespace recut::autodiff

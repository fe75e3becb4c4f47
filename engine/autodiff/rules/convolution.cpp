// Convolutions: everything comes down to `convolution` and its backward operator.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

using Ints = std::vector<std::int64_t>;

// The geometry of a convolution of n spatial dimensions.
struct Geometry {
  Ints stride, padding, dilation;
  bool transposed = false;
  Ints output_padding;
  std::int64_t groups = 1;
};

Geometry geometry(VjpContext& ctx, std::size_t n) {
  Geometry g;
  g.stride = filled_up(ctx.integers("stride"), n);
  g.padding = filled_up(ctx.integers("padding"), n);
  g.dilation = filled_up(ctx.integers("dilation"), n);
  g.transposed = ctx.has("transposed") ? ctx.boolean("transposed") : ctx.has("output_padding");
  g.output_padding =
      ctx.has("output_padding") ? filled_up(ctx.integers("output_padding"), n) : Ints(n, 0);
  g.groups = ctx.integer("groups");
  return g;
}

std::size_t spatial(const Value& weight) {
  return weight.rank() < 2 ? 0 : static_cast<std::size_t>(weight.rank() - 2);
}

CallArgument maybe(const Value& value) {
  return value.valid() ? CallArgument(value) : CallArgument(None{});
}

Value convolved(const Geometry& g, const Value& input, const Value& weight, const Value& bias) {
  return (*input.builder())(
      Op::convolution, {input, weight, maybe(bias), g.stride, g.padding, g.dilation, g.transposed,
                        g.output_padding, g.groups});
}

// One of the three gradients; `mask` says which are computed at all.
Value gradient(const Geometry& g, const Value& grad, const Value& input, const Value& weight,
               const ArgumentList& mask, std::int64_t part) {
  Builder& b = *grad.builder();
  const std::int64_t channels = g.transposed ? weight.size(1) * g.groups : weight.size(0);
  return b(Op::convolution_backward,
           {grad, input, weight, Ints{channels}, g.stride, g.padding, g.dilation, g.transposed,
            g.output_padding, g.groups, mask})[part];
}

template <std::int64_t part>
Value convolution_part(VjpContext& ctx) {
  const Geometry g = geometry(ctx, spatial(ctx["weight"]));
  const ArgumentList mask = {ctx.needs_input_grad("input"), ctx.needs_input_grad("weight"),
                             ctx.needs_input_grad("bias")};
  return gradient(g, ctx.grad(), ctx["input"], ctx["weight"], mask, part);
}

// conv1d … conv_transpose3d: the same with a batch of one where there is none.
std::vector<Value> by_convolution(VjpContext& ctx) {
  Value input = ctx["input"];
  const Value weight = ctx["weight"];
  const bool alone = input.rank() == weight.rank() - 1;
  if (alone) input = ctx.b(Op::unsqueeze, {input, 0});
  const Value made = convolved(geometry(ctx, spatial(weight)), input, weight, ctx["bias"]);
  return {alone ? ctx.b(Op::squeeze_dim, {made, 0}) : made};
}

std::vector<Value> clamped_convolution(VjpContext& ctx) {
  Value made = by_convolution(ctx).front();
  if (ctx["addend"].valid()) made = made + ctx["addend"];
  if (!ctx.is_given("low") && !ctx.is_given("high")) return {made};
  return {ctx.b(Op::clamp, {made, ctx.given("low"), ctx.given("high")})};
}

// The backward operator is linear in the gradient, and each of its gradients in the other operand,
// so that the second derivatives are convolutions again.
Value twice_gradient(VjpContext& ctx) {
  const Geometry g = geometry(ctx, spatial(ctx["weight"]));
  Value sum;
  if (ctx.has_grad(0)) sum = convolved(g, ctx.grad(0), ctx["weight"], {});
  if (ctx.has_grad(1)) sum = plus(sum, convolved(g, ctx["input"], ctx.grad(1), {}));
  if (ctx.has_grad(2)) {
    Shape shape(static_cast<std::size_t>(ctx["grad_output"].rank()), 1);
    shape[1] = ctx.grad(2).count();
    sum = plus(sum, ctx.b.expand(ctx.b.view(ctx.grad(2), shape), ctx["grad_output"].shape()));
  }
  return sum;
}

Value twice_input(VjpContext& ctx) {
  if (!ctx.has_grad(1)) return {};
  const Geometry g = geometry(ctx, spatial(ctx["weight"]));
  return gradient(g, ctx["grad_output"], ctx["input"], ctx.grad(1), {true, false, false}, 0);
}

Value twice_weight(VjpContext& ctx) {
  if (!ctx.has_grad(0)) return {};
  const Geometry g = geometry(ctx, spatial(ctx["weight"]));
  return gradient(g, ctx["grad_output"], ctx.grad(0), ctx["weight"], {false, true, false}, 1);
}

}  // namespace

DerivativeRules convolution_rules() {
  return {
      vjp({Op::convolution, Op::_convolution}, {{"input", convolution_part<0>},
                                                {"weight", convolution_part<1>},
                                                {"bias", convolution_part<2>}}),
      decomposes({Op::conv1d, Op::conv2d, Op::conv3d, Op::conv_transpose1d,
                  Op::conv_transpose2d_input, Op::conv_transpose3d_input},
                 by_convolution),
      decomposes({Op::recut_clamped_convolution}, clamped_convolution),
      vjp({Op::convolution_backward},
          {{"grad_output", twice_gradient}, {"input", twice_input}, {"weight", twice_weight}}),
  };
}

}  // namespace recut::autodiff

// Pooling. Average pooling is linear: its VJP is ATen's backward operator, whose own VJP is the
// pooling of the gradient. Max pooling scatters the gradient to the saved indices; its second
// derivative gathers at the same indices, since the choice of the maximum is locally constant.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

using Ints = std::vector<std::int64_t>;

// The backward operator with (grad, self) and the call's own arguments of the same names.
template <Op backward>
Value avg_pool_vjp(VjpContext& ctx) {
  const Operator& row = operator_of(backward);
  Positional arguments = {ctx.grad(), ctx["self"]};
  for (std::size_t i = 2; i < row.parameters.size(); ++i)
    arguments.push_back(ctx.given(row.parameters[i].name));
  return ctx.b(backward, arguments);
}

// Backward again: the pooling itself, of the gradient.
template <Op forward>
Value avg_pool_backward_vjp(VjpContext& ctx) {
  const Operator& row = operator_of(forward);
  Positional arguments = {ctx.grad()};
  for (std::size_t i = 1; i < row.parameters.size(); ++i)
    arguments.push_back(ctx.given(row.parameters[i].name));
  return ctx.b(forward, arguments);
}

Ints last(const Shape& shape, std::size_t n) {
  return Ints(shape.end() - static_cast<std::ptrdiff_t>(n), shape.end());
}

template <Op forward, std::size_t n>
Value adaptive_again(VjpContext& ctx) {
  return ctx.b(forward, {ctx.grad(), last(ctx["grad_output"].shape(), n)});
}

// Strides default to the kernel's sizes.
CallArgument strides(VjpContext& ctx) {
  return ctx.integers("stride").empty() ? ctx.given("kernel_size") : ctx.given("stride");
}

template <Op backward>
Value max_of(VjpContext& ctx) {
  return ctx.b(backward,
               {ctx.grad(), ctx["self"], ctx.given("kernel_size"), strides(ctx),
                ctx.given("padding"), ctx.given("dilation"), ctx.given("ceil_mode"), ctx.out(1)});
}

// Elements at flat indices within the last n dimensions.
Value gather_in_planes(const Value& planes, const Value& indices, std::int64_t n) {
  Builder& b = *planes.builder();
  const auto flat = [&](const Value& v) {
    Shape shape(v.shape().begin(), v.shape().end() - n);
    std::int64_t count = 1;
    for (std::int64_t d = 1; d <= n; ++d) count *= v.size(-d);
    shape.push_back(count);
    return b.view(v, shape);
  };
  return b.view(b(Op::gather, {flat(planes), -1, flat(indices)}), indices.shape());
}

template <std::int64_t n>
Value max_again(VjpContext& ctx) {
  return gather_in_planes(ctx.grad(), ctx["indices"], n);
}
template <std::int64_t n>
Value unpooled(VjpContext& ctx) {
  return gather_in_planes(ctx.grad(), ctx["indices"], n);
}

template <Op backward>
Value adaptive_max(VjpContext& ctx) {
  return ctx.b(backward, {ctx.grad(), ctx["self"], ctx.out(1)});
}
template <Op backward>
Value fractional(VjpContext& ctx) {
  return ctx.b(backward, {ctx.grad(), ctx["self"], ctx.given("kernel_size"),
                          ctx.given("output_size"), ctx.out(1)});
}

// 1-d pooling is 2-d pooling with a leading dimension of 1.
Ints prepend(std::int64_t first, Ints rest) {
  rest.insert(rest.begin(), first);
  return rest;
}
Value unsqueeze_self(VjpContext& ctx) { return ctx.b(Op::unsqueeze, {ctx["self"], -2}); }
Value squeeze_result(const Value& v) { return (*v.builder())(Op::squeeze_dim, {v, -2}); }

std::vector<Value> avg_pool1d(VjpContext& ctx) {
  const Ints stride =
      ctx.integers("stride").empty() ? ctx.integers("kernel_size") : ctx.integers("stride");
  return {squeeze_result(
      ctx.b(Op::avg_pool2d, {unsqueeze_self(ctx), prepend(1, ctx.integers("kernel_size")),
                             prepend(1, stride), prepend(0, ctx.integers("padding")),
                             ctx.given("ceil_mode"), ctx.given("count_include_pad")}))};
}

std::vector<Value> max_pool1d(VjpContext& ctx) {
  const Ints stride =
      ctx.integers("stride").empty() ? ctx.integers("kernel_size") : ctx.integers("stride");
  const Value pooled = ctx.b(Op::max_pool2d_with_indices,
                             {unsqueeze_self(ctx), prepend(1, ctx.integers("kernel_size")),
                              prepend(1, stride), prepend(0, ctx.integers("padding")),
                              prepend(1, ctx.integers("dilation")), ctx.given("ceil_mode")});
  return {squeeze_result(pooled[0])};
}

template <Op with_indices>
std::vector<Value> max_pool(VjpContext& ctx) {
  const auto& given = ctx.call().arguments();
  return {ctx.b.call(with_indices, std::vector<Argument>(given.begin(), given.end()))[0]};
}

std::vector<Value> adaptive_avg_pool1d(VjpContext& ctx) {
  return {squeeze_result(ctx.b(Op::_adaptive_avg_pool2d,
                               {unsqueeze_self(ctx), prepend(1, ctx.integers("output_size"))}))};
}
std::vector<Value> adaptive_max_pool1d(VjpContext& ctx) {
  return {squeeze_result(ctx.b(Op::adaptive_max_pool2d,
                               {unsqueeze_self(ctx), prepend(1, ctx.integers("output_size"))})[0])};
}

template <Op inner>
std::vector<Value> adaptive(VjpContext& ctx) {
  return {ctx.b(inner, {ctx["self"], ctx.given("output_size")})};
}

Value max_from_offsets(VjpContext& ctx) {
  const Value x = ctx["self"];
  const Value indices = ctx.b(
      Op::prims_low_memory_max_pool_offsets_to_indices,
      {ctx.out(1), ctx.given("kernel_size"), last(x.shape(), ctx.integers("kernel_size").size()),
       ctx.given("stride"), ctx.given("padding"), ctx.given("dilation")});
  const Op backward = ctx.integers("kernel_size").size() == 3
                          ? Op::max_pool3d_with_indices_backward
                          : Op::max_pool2d_with_indices_backward;
  return ctx.b(backward,
               {ctx.grad(), x, ctx.given("kernel_size"), strides(ctx), ctx.given("padding"),
                ctx.given("dilation"), ctx.given("ceil_mode"), indices});
}

DerivativeRules averages() {
  return {
      decomposes({Op::avg_pool1d}, avg_pool1d),
      linear({Op::avg_pool2d}, {{"self", avg_pool_vjp<Op::avg_pool2d_backward>}}),
      linear({Op::avg_pool3d}, {{"self", avg_pool_vjp<Op::avg_pool3d_backward>}}),
      vjp({Op::avg_pool2d_backward},
          {{"grad_output", avg_pool_backward_vjp<Op::avg_pool2d>}, {"self", nothing}}),
      vjp({Op::avg_pool3d_backward},
          {{"grad_output", avg_pool_backward_vjp<Op::avg_pool3d>}, {"self", nothing}}),
      linear({Op::_adaptive_avg_pool2d},
             {{"self", avg_pool_vjp<Op::_adaptive_avg_pool2d_backward>}}),
      linear({Op::_adaptive_avg_pool3d},
             {{"self", avg_pool_vjp<Op::_adaptive_avg_pool3d_backward>}}),
      vjp({Op::_adaptive_avg_pool2d_backward},
          {{"grad_output", adaptive_again<Op::_adaptive_avg_pool2d, 2>}, {"self", nothing}}),
      vjp({Op::_adaptive_avg_pool3d_backward},
          {{"grad_output", adaptive_again<Op::_adaptive_avg_pool3d, 3>}, {"self", nothing}}),
      decomposes({Op::adaptive_avg_pool1d}, adaptive_avg_pool1d),
      decomposes({Op::adaptive_avg_pool2d}, adaptive<Op::_adaptive_avg_pool2d>),
      decomposes({Op::adaptive_avg_pool3d}, adaptive<Op::_adaptive_avg_pool3d>),
  };
}

DerivativeRules maxima() {
  return {
      vjp({Op::max_pool2d_with_indices}, {{"self", max_of<Op::max_pool2d_with_indices_backward>}},
          1),
      vjp({Op::max_pool3d_with_indices}, {{"self", max_of<Op::max_pool3d_with_indices_backward>}},
          1),
      vjp({Op::max_pool2d_with_indices_backward},
          {{"grad_output", max_again<2>}, {"self", nothing}}),
      vjp({Op::max_pool3d_with_indices_backward},
          {{"grad_output", max_again<3>}, {"self", nothing}}),
      decomposes({Op::max_pool1d, Op::max_pool1d_with_indices}, max_pool1d, 1),
      decomposes({Op::max_pool2d}, max_pool<Op::max_pool2d_with_indices>),
      decomposes({Op::max_pool3d}, max_pool<Op::max_pool3d_with_indices>),
      vjp({Op::prims_low_memory_max_pool_with_offsets}, {{"self", max_from_offsets}}, 1),
      decomposes({Op::adaptive_max_pool1d}, adaptive_max_pool1d, 1),
      vjp({Op::adaptive_max_pool2d}, {{"self", adaptive_max<Op::adaptive_max_pool2d_backward>}}, 1),
      vjp({Op::adaptive_max_pool3d}, {{"self", adaptive_max<Op::adaptive_max_pool3d_backward>}}, 1),
      vjp({Op::adaptive_max_pool2d_backward}, {{"grad_output", max_again<2>}, {"self", nothing}}),
      vjp({Op::adaptive_max_pool3d_backward}, {{"grad_output", max_again<3>}, {"self", nothing}}),
      vjp({Op::fractional_max_pool2d}, {{"self", fractional<Op::fractional_max_pool2d_backward>}},
          1),
      vjp({Op::fractional_max_pool3d}, {{"self", fractional<Op::fractional_max_pool3d_backward>}},
          1),
      vjp({Op::fractional_max_pool2d_backward}, {{"grad_output", max_again<2>}, {"self", nothing}}),
      vjp({Op::fractional_max_pool3d_backward}, {{"grad_output", max_again<3>}, {"self", nothing}}),
      linear({Op::max_unpool2d}, {{"self", unpooled<2>}}),
      linear({Op::max_unpool3d}, {{"self", unpooled<3>}}),
  };
}

}  // namespace

DerivativeRules pooling_rules() {
  DerivativeRules rows = averages();
  for (DerivativeRule& row : maxima()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

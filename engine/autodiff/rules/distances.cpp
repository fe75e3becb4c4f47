// Distances between rows.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value cdist_first(VjpContext& ctx) {
  return ctx.b(Op::_cdist_backward, {ctx.grad(), ctx["x1"], ctx["x2"], ctx.given("p"), ctx.out()});
}

// The gradient of x2: distances are symmetric, so it is that of x1 with both swapped.
Value cdist_second(VjpContext& ctx) {
  const auto transposed = [&](const Value& v) {
    return ctx.b(Op::clone, {ctx.b.transpose(v)}, {{"memory_format", "contiguous_format"}});
  };
  return ctx.b(Op::_cdist_backward, {transposed(ctx.grad()), ctx["x2"], ctx["x1"], ctx.given("p"),
                                     transposed(ctx.out())});
}

std::vector<Value> cdist(VjpContext& ctx) {
  return {
      ctx.b(Op::_cdist_forward, {ctx["x1"], ctx["x2"], ctx.given("p"), ctx.given("compute_mode")})};
}

// The norm of every row's difference from every other.
std::vector<Value> cdist_written_out(VjpContext& ctx) {
  const Value difference =
      ctx.b(Op::unsqueeze, {ctx["x1"], -2}) - ctx.b(Op::unsqueeze, {ctx["x2"], -3});
  return {ctx.b(Op::linalg_vector_norm, {difference, ctx.given("p"), {-1}})};
}

// The norm of the difference of each pair of rows, the row further up first.
std::vector<Value> pdist_written_out(VjpContext& ctx) {
  const Value x = ctx["self"];
  const Value pairs = ctx.b(Op::triu_indices, {x.size(0), x.size(0), 1});
  const auto rows = [&](std::int64_t which) {
    return ctx.b(Op::index_select, {x, 0, ctx.b(Op::select_int, {pairs, 0, which})});
  };
  return {ctx.b(Op::linalg_vector_norm, {rows(0) - rows(1), ctx.given("p"), {-1}})};
}

// |a - b|, where the distance is 0 with derivative 0.
std::vector<Value> euclidean(VjpContext& ctx) {
  const Value difference =
      ctx.b(Op::unsqueeze, {ctx["x1"], -2}) - ctx.b(Op::unsqueeze, {ctx["x2"], -3});
  return {ctx.b(Op::linalg_vector_norm, {difference, 2, {-1}})};
}

// The derivative of the distance by each component of a difference; 0 where the distance is 0.
Value slopes(VjpContext& ctx, const Value& difference, const Value& distance) {
  const double p = ctx.real("p");
  const Value wide = ctx.b(Op::unsqueeze, {distance, -1});
  const Value sign = unary(Op::sgn, difference), size = unary(Op::abs, difference);
  if (p == 0) return filled(difference, 0);
  if (p == 1) return sign;
  if (std::isinf(p)) return keep_where(ctx.b(Op::eq_Tensor, {size, wide}), sign);
  const Value none = ctx.b(Op::eq_Scalar, {wide, 0});
  if (p == 2) return zero_where(none, difference / wide);
  const Value flat = ctx.b(Op::eq_Scalar, {size, 0});
  const Value part = zero_where(flat, sign * power(size, p - 1));
  return zero_where(none, part / power(wide, p - 1));
}

std::vector<Value> cdist_backward(VjpContext& ctx) {
  const Value first = ctx.b(Op::unsqueeze, {ctx["x1"], -2}),
              second = ctx.b(Op::unsqueeze, {ctx["x2"], -3});
  const Value each =
      product({slopes(ctx, first - second, ctx["cdist"]), ctx.b(Op::unsqueeze, {ctx["grad"], -1})});
  return {ctx.b.sum(each, {-2})};
}

std::vector<Value> pdist_backward(VjpContext& ctx) {
  const Value x = ctx["self"];
  const Value pairs = ctx.b(Op::triu_indices, {x.size(0), x.size(0), 1});
  const Value first = ctx.b(Op::select_int, {pairs, 0, 0}),
              second = ctx.b(Op::select_int, {pairs, 0, 1});
  const Value above = ctx.b(Op::index_select, {x, 0, first});
  const Value below = ctx.b(Op::index_select, {x, 0, second});
  const Value each =
      product({slopes(ctx, above - below, ctx["pdist"]), ctx.b(Op::unsqueeze, {ctx["grad"], -1})});
  const Value half = ctx.b(Op::index_add, {zeros(ctx.b, x.type()), 0, first, each});
  return {ctx.b(Op::index_add, {half, 0, second, -each})};
}

Value pdist_self(VjpContext& ctx) {
  return ctx.b(Op::_pdist_backward, {ctx.grad(), ctx["self"], ctx.given("p"), ctx.out()});
}

std::vector<Value> pdist(VjpContext& ctx) {
  return {ctx.b(Op::_pdist_forward, {ctx["self"], ctx.given("p")})};
}

}  // namespace

DerivativeRules distance_rules() {
  return {
      vjp_and_decomposition({Op::_cdist_forward}, {{"x1", cdist_first}, {"x2", cdist_second}},
                            cdist_written_out),
      decomposes({Op::_cdist_backward}, cdist_backward),
      decomposes({Op::cdist}, cdist),
      decomposes({Op::_euclidean_dist}, euclidean),
      vjp_and_decomposition({Op::_pdist_forward}, {{"self", pdist_self}}, pdist_written_out),
      decomposes({Op::_pdist_backward}, pdist_backward),
      decomposes({Op::pdist}, pdist),
  };
}

}  // namespace recut::autodiff

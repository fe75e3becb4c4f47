// Softmax and the normalisations (batch, layer, group, RMS).
//
// First derivatives are ATen's fused backward operators, which reuse the saved mean and rstd:
//
//   %y, %mean, %rstd = native_layer_norm(%x, …)
//     =>  %gx, … = native_layer_norm_backward(%g, %x, …, %mean, %rstd, …)
//
// A backward operator differentiated again is decomposed, with mean and rstd recomputed from x:
// as saved values they would be constants, and their part of the derivative would be lost.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

using Ints = std::vector<std::int64_t>;

Value softmax(VjpContext& ctx) {
  return ctx.b(Op::_softmax_backward_data,
               {ctx.grad(), ctx.out(), ctx.given("dim"), ctx["self"].dtype()});
}
Value log_softmax(VjpContext& ctx) {
  return ctx.b(Op::_log_softmax_backward_data,
               {ctx.grad(), ctx.out(), ctx.given("dim"), ctx["self"].dtype()});
}

// (g - sum(g y)) y
std::vector<Value> softmax_backward(VjpContext& ctx) {
  const Value g = ctx["grad_output"], y = ctx["output"], gy = g * y;
  return {ctx.b.convert(gy - y * ctx.b.sum(gy, {ctx.integer("dim")}, true), ctx.out_type().dtype)};
}
// g - exp(y) sum(g)
std::vector<Value> log_softmax_backward(VjpContext& ctx) {
  const Value g = ctx["grad_output"];
  const Value sum = ctx.b.sum(g, {ctx.integer("dim")}, true);
  return {ctx.b.convert(g - ctx.b.exp(ctx["output"]) * sum, ctx.out_type().dtype)};
}

template <Op plain>
std::vector<Value> composite_softmax(VjpContext& ctx) {
  return {
      ctx.b(plain, {ctx.b.convert(ctx["self"], ctx.out_type().dtype), ctx.given("dim"), false})};
}

// softmax, and 0 in rows that are -inf throughout. Those rows give NaN in the gradient of softmax
// alone, so that it is taken of 0 there.
std::vector<Value> safe_softmax(VjpContext& ctx) {
  const Value x = ctx.b.convert(ctx["self"], ctx.out_type().dtype);
  const Value lost =
      ctx.b(Op::all_dim, {ctx.b(Op::eq_Scalar, {x, -INFINITY}), ctx.integer("dim"), true});
  const Value y = ctx.b(Op::_softmax, {zero_where(lost, x), ctx.given("dim"), false});
  return {zero_where(lost, y)};
}

ArgumentList mask(VjpContext& ctx) {
  return {ctx.needs_input_grad("input"), ctx.needs_input_grad("weight"),
          ctx.needs_input_grad("bias")};
}

template <std::int64_t part>
Value layer_norm_part(VjpContext& ctx) {
  return ctx.b(Op::native_layer_norm_backward,
               {ctx.grad(), ctx["input"], ctx.given("normalized_shape"), ctx.out(1), ctx.out(2),
                ctx.given("weight"), ctx.given("bias"), mask(ctx)})[part];
}

template <std::int64_t part>
Value group_norm_part(VjpContext& ctx) {
  return ctx.b(
      Op::native_group_norm_backward,
      {ctx.grad(), ctx["input"], ctx.out(1), ctx.out(2), ctx.given("weight"), ctx.given("N"),
       ctx.given("C"), ctx.given("HxW"), ctx.given("group"), mask(ctx)})[part];
}

template <std::int64_t part>
Value rms_norm_part(VjpContext& ctx) {
  return ctx.b(
      Op::_fused_rms_norm_backward,
      {ctx.grad(), ctx["input"], ctx.given("normalized_shape"), ctx.out(1), ctx.given("weight"),
       ArgumentList{ctx.needs_input_grad("input"), ctx.needs_input_grad("weight")}})[part];
}

template <std::int64_t part>
Value batch_norm_part(VjpContext& ctx) {
  const bool training = !ctx.has("training") || ctx.boolean("training");
  const bool trains = ctx.op() != Op::_native_batch_norm_legit_no_training && training;
  const CallArgument mean =
      ctx.has("running_mean") ? ctx.given("running_mean") : CallArgument(None{});
  const CallArgument variance =
      ctx.has("running_var") ? ctx.given("running_var") : CallArgument(None{});
  return ctx.b(Op::native_batch_norm_backward,
               {ctx.grad(), ctx["input"], ctx.given("weight"), mean, variance, ctx.out(1),
                ctx.out(2), trains, ctx.given("eps"), mask(ctx)})[part];
}

std::vector<Value> layer_norm(VjpContext& ctx) {
  return {
      ctx.b(Op::native_layer_norm, {ctx["input"], ctx.given("normalized_shape"),
                                    ctx.given("weight"), ctx.given("bias"), ctx.given("eps")})[0]};
}

std::vector<Value> rms_norm(VjpContext& ctx) {
  return {ctx.b(Op::_fused_rms_norm, {ctx["input"], ctx.given("normalized_shape"),
                                      ctx.given("weight"), ctx.given("eps")})[0]};
}

std::vector<Value> group_norm(VjpContext& ctx) {
  const Value x = ctx["input"];
  const std::int64_t n = x.size(0), c = x.size(1), area = n * c == 0 ? 0 : x.count() / (n * c);
  return {ctx.b(Op::native_group_norm, {x, ctx.given("weight"), ctx.given("bias"), n, c, area,
                                        ctx.given("num_groups"), ctx.given("eps")})[0]};
}

std::vector<Value> batch_norm(VjpContext& ctx) {
  return {ctx.b(Op::native_batch_norm,
                {ctx["input"], ctx.given("weight"), ctx.given("bias"), ctx.given("running_mean"),
                 ctx.given("running_var"), ctx.given("training"), ctx.given("momentum"),
                 ctx.given("eps")})[0]};
}

// The gradient of x^ = (x - mean) r, with mean and r = rstd of x itself, over `dims` of n elements:
// r (g - mean(g) - x^ mean(g x^)), where mean and rstd are recomputed from x, so that the second
// derivative includes their dependence on x. If not `centred` (an RMS norm), mean is 0 and its term
// is left out.
struct Normalised {
  Value hat, rstd;
  Ints dims;
  bool centred;

  Value gradient(const Value& g) const {
    Builder& b = *g.builder();
    const auto mean = [&](const Value& v) { return b(Op::mean_dim, {v, dims, true}); };
    const Value projected = hat * mean(g * hat);
    return (centred ? g - mean(g) - projected : g - projected) * rstd;
  }
};

// `rstd` is a function of x. Its value gives eps: eps = rstd^-2 - variance, a constant.
Normalised normalised(const Value& x, const Value& rstd, const Ints& dims, bool centred) {
  Builder& b = *x.builder();
  const auto mean = [&](const Value& v) { return b(Op::mean_dim, {v, dims, true}); };
  const Value middle = centred ? x - mean(x) : x;
  const Value variance = mean(squared(middle));
  const Value eps = b(Op::detach, {power(rstd, -2.0) - variance});
  const Value r = unary(Op::rsqrt, variance + eps);
  return {middle * r, r, dims, centred};
}

Ints last_dims(std::int64_t rank, std::size_t n) {
  Ints dims;
  for (std::int64_t d = rank - static_cast<std::int64_t>(n); d < rank; ++d) dims.push_back(d);
  return dims;
}

Value summed_leading(const Value& v, const Value& like) {
  return like.valid() ? sum_to(v, like.shape()) : Value();
}

std::vector<Value> layer_norm_backward(VjpContext& ctx) {
  const Value x = ctx["input"], g = ctx["grad_out"], w = ctx["weight"];
  const auto dims = last_dims(x.rank(), ctx.integers("normalized_shape").size());
  const Normalised n = normalised(x, ctx["rstd"], dims, true);
  return {n.gradient(w.valid() ? g * w : g), summed_leading(g * n.hat, w),
          summed_leading(g, ctx["bias"])};
}

std::vector<Value> rms_norm_backward(VjpContext& ctx) {
  const Value x = ctx["input"], g = ctx["grad_out"], w = ctx["weight"];
  const auto dims = last_dims(x.rank(), ctx.integers("normalized_shape").size());
  const Normalised n = normalised(x, ctx["rstd"], dims, false);
  return {n.gradient(w.valid() ? g * w : g), summed_leading(g * n.hat, w)};
}

std::vector<Value> group_norm_backward(VjpContext& ctx) {
  const Value x = ctx["input"], w = ctx["weight"];
  const std::int64_t n = ctx.integer("N"), c = ctx.integer("C"), area = ctx.integer("HxW");
  const std::int64_t groups = ctx.integer("group");
  const Shape grouped = {n, groups, groups == 0 ? 0 : c / groups, area};
  const Value g = ctx.b.view(ctx["grad_out"], grouped);
  const Value rstd = ctx.b.view(ctx["rstd"], {n, groups, 1, 1});
  const Normalised norm = normalised(ctx.b.view(x, grouped), rstd, {2, 3}, true);
  const Shape channels = {1, groups, groups == 0 ? 0 : c / groups, 1};
  const Value scaled = w.valid() ? g * ctx.b.view(w, channels) : g;
  const auto by_channel = [&](const Value& v) { return ctx.b.view(ctx.b.sum(v, {0, 3}), {c}); };
  return {ctx.b.view(norm.gradient(scaled), x.shape()), by_channel(g * norm.hat), by_channel(g)};
}

std::vector<Value> batch_norm_backward(VjpContext& ctx) {
  const Value x = ctx["input"], g = ctx["grad_out"], w = ctx["weight"];
  Shape channels(static_cast<std::size_t>(x.rank()), 1);
  if (x.rank() > 1) channels[1] = x.size(1);
  Ints dims;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != 1) dims.push_back(d);
  const auto wide = [&](const Value& v) { return ctx.b.view(v, channels); };
  const auto by_channel = [&](const Value& v) { return ctx.b.sum(v, dims); };
  const Value scaled = w.valid() ? g * wide(w) : g;
  if (ctx.boolean("train")) {
    const Normalised n = normalised(x, wide(ctx["save_invstd"]), dims, true);
    return {n.gradient(scaled), by_channel(g * n.hat), by_channel(g)};
  }
  const Value rstd = unary(Op::rsqrt, wide(ctx["running_var"]) + ctx.real("eps"));
  const Value hat = (x - wide(ctx["running_mean"])) * rstd;
  return {scaled * rstd, by_channel(g * hat), by_channel(g)};
}

DerivativeRules softmaxes() {
  return {
      vjp({Op::_softmax}, {{"self", softmax}}),
      vjp({Op::_log_softmax}, {{"self", log_softmax}}),
      decomposes({Op::_softmax_backward_data}, softmax_backward),
      decomposes({Op::_log_softmax_backward_data}, log_softmax_backward),
      decomposes({Op::softmax_int}, composite_softmax<Op::_softmax>),
      decomposes({Op::log_softmax_int}, composite_softmax<Op::_log_softmax>),
      decomposes({Op::_safe_softmax}, safe_softmax),
  };
}

DerivativeRules norms() {
  return {
      vjp({Op::native_layer_norm},
          {{"input", layer_norm_part<0>},
           {"weight", layer_norm_part<1>},
           {"bias", layer_norm_part<2>}},
          1),
      vjp({Op::native_group_norm},
          {{"input", group_norm_part<0>},
           {"weight", group_norm_part<1>},
           {"bias", group_norm_part<2>}},
          1),
      vjp({Op::_fused_rms_norm}, {{"input", rms_norm_part<0>}, {"weight", rms_norm_part<1>}}, 1),
      vjp({Op::native_batch_norm, Op::_native_batch_norm_legit,
           Op::_native_batch_norm_legit_no_stats, Op::_native_batch_norm_legit_no_training,
           Op::_native_batch_norm_legit_functional},
          {{"input", batch_norm_part<0>},
           {"weight", batch_norm_part<1>},
           {"bias", batch_norm_part<2>}},
          1),
      decomposes({Op::layer_norm}, layer_norm),
      decomposes({Op::rms_norm}, rms_norm),
      decomposes({Op::group_norm}, group_norm),
      decomposes({Op::batch_norm}, batch_norm),
      decomposes({Op::native_layer_norm_backward}, layer_norm_backward),
      decomposes({Op::_fused_rms_norm_backward}, rms_norm_backward),
      decomposes({Op::native_group_norm_backward}, group_norm_backward),
      decomposes({Op::native_batch_norm_backward}, batch_norm_backward),
  };
}

}  // namespace

DerivativeRules normalisation_rules() {
  DerivativeRules rows = softmaxes();
  for (DerivativeRule& row : norms()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

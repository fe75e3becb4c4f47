// Scaled dot-product attention: softmax(q k^T scale + mask) v.
//
// The VJP of a fused forward operator is the fused backward operator, which gives the gradients of
// query, key and value at once. Forward mode and second derivatives have no fused operator: there
// the call is decomposed into matmuls and a softmax, which materialises the scores (memory of
// queries times keys). The fused operators of ATen differ only in outputs and argument order.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// An output that may be absent, as an argument.
CallArgument maybe_out(VjpContext& ctx, std::int64_t output) {
  return ctx.out_type(output).exists() ? CallArgument(ctx.out(output)) : CallArgument(None{});
}

// The fused operators differ in their outputs and in the order of their backward's arguments; each
// backward gives the gradients of query, key and value in this order.
template <std::int64_t part>
Value flash_for_cpu(VjpContext& ctx) {
  return ctx.b(Op::_scaled_dot_product_flash_attention_for_cpu_backward,
               {ctx.grad(), ctx["query"], ctx["key"], ctx["value"], ctx.out(0), ctx.out(1),
                ctx.given("dropout_p"), ctx.given("is_causal")},
               {{"attn_mask", ctx.given("attn_mask")}, {"scale", ctx.given("scale")}})[part];
}

template <std::int64_t part>
Value flash(VjpContext& ctx) {
  return ctx.b(Op::_scaled_dot_product_flash_attention_backward,
               {ctx.grad(), ctx["query"], ctx["key"], ctx["value"], ctx.out(0), ctx.out(1),
                maybe_out(ctx, 2), maybe_out(ctx, 3), ctx["query"].size(2), ctx["key"].size(2),
                ctx.given("dropout_p"), ctx.given("is_causal"), ctx.out(6), ctx.out(7)},
               {{"scale", ctx.given("scale")}})[part];
}

template <std::int64_t part>
Value efficient(VjpContext& ctx) {
  const ArgumentList mask = {ctx.needs_input_grad("query"), ctx.needs_input_grad("key"),
                             ctx.needs_input_grad("value"), ctx.needs_input_grad("attn_bias")};
  return ctx.b(
      Op::_scaled_dot_product_efficient_attention_backward,
      {ctx.grad(), ctx["query"], ctx["key"], ctx["value"], ctx.given("attn_bias"), ctx.out(0),
       ctx.out(1), ctx.out(2), ctx.out(3), ctx.given("dropout_p"), mask, ctx.given("is_causal")},
      {{"scale", ctx.given("scale")}})[part];
}

template <std::int64_t part>
Value kept(VjpContext& ctx) {
  return ctx.b(
      Op::recut_scaled_dot_product_kept_attention_backward,
      {ctx.grad(), ctx["query"], ctx["key"], ctx["value"], ctx.given("attn_bias"), ctx["keep"],
       ctx.out(0), ctx.out(1), ctx.given("keep_scale"), ctx.given("is_causal")},
      {{"scale", ctx.given("scale")}})[part];
}

template <std::int64_t part>
Value cudnn(VjpContext& ctx) {
  return ctx.b(
      Op::_scaled_dot_product_cudnn_attention_backward,
      {ctx.grad(), ctx["query"], ctx["key"], ctx["value"], ctx.out(0), ctx.out(1), ctx.out(6),
       ctx.out(7), ctx.given("attn_bias"), maybe_out(ctx, 2), maybe_out(ctx, 3),
       ctx["query"].size(2), ctx["key"].size(2), ctx.given("dropout_p"), ctx.given("is_causal")},
      {{"scale", ctx.given("scale")}})[part];
}

// Grouped-query attention: repeats the heads of keys and values that several query heads share.
Value for_all_heads(const Value& kv, const Value& query) {
  const std::int64_t times = kv.size(-3) == 0 ? 1 : query.size(-3) / kv.size(-3);
  if (times == 1) return kv;
  return (*kv.builder())(Op::repeat_interleave_self_int, {kv, times, -3});
}

Value causal_mask(Builder& b, std::int64_t rows, std::int64_t columns) {
  const Value ones = b.full({rows, columns}, true, DType::boolean);
  return b(Op::tril, {ones});
}

// softmax(q k^T scale + mask) v, written out. A row that is masked out altogether is 0.
std::vector<Value> attention(VjpContext& ctx) {
  if (ctx.real("dropout_p") > 0) return {ctx.b.fail("with dropout it has no derivative rule")};
  const Value q = ctx["query"];
  Value k = ctx["key"], v = ctx["value"];
  if (ctx.has("enable_gqa") && ctx.boolean("enable_gqa"))
    k = for_all_heads(k, q), v = for_all_heads(v, q);
  const double scale =
      ctx.is_given("scale") ? ctx.real("scale") : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  Value scores = ctx.b.matmul(q, ctx.b.transpose(k)) * scale;
  const auto masked = [&](const Value& allowed) {
    return number_where(negated(allowed), -INFINITY, scores);
  };
  if (ctx.boolean("is_causal")) scores = masked(causal_mask(ctx.b, q.size(-2), k.size(-2)));
  const Value mask = ctx[ctx.has("attn_mask") ? "attn_mask" : "attn_bias"];
  if (mask.valid()) scores = mask.dtype() == DType::boolean ? masked(mask) : scores + mask;
  return {ctx.b.matmul(ctx.b(Op::_safe_softmax, {scores, -1}), v)};
}

// The fused backward decomposed into the gradient of a softmax, for second derivatives.
struct Scores {
  Value q, k, v, weights;  // weights = softmax of the scores
  double scale;
};

Scores written_out(VjpContext& ctx) {
  Scores a{ctx["query"], ctx["key"], ctx["value"], {}, 0};
  a.scale =
      ctx.is_given("scale") ? ctx.real("scale") : 1 / std::sqrt(static_cast<double>(a.q.size(-1)));
  Value scores = ctx.b.matmul(a.q, ctx.b.transpose(a.k)) * a.scale;
  if (ctx.has("is_causal") && ctx.boolean("is_causal"))
    scores =
        number_where(negated(causal_mask(ctx.b, a.q.size(-2), a.k.size(-2))), -INFINITY, scores);
  const char* name = ctx.has("attn_mask")   ? "attn_mask"
                     : ctx.has("attn_bias") ? "attn_bias"
                                            : nullptr;
  const Value mask = name == nullptr ? Value() : ctx[name];
  if (mask.valid())
    scores = mask.dtype() == DType::boolean ? number_where(negated(mask), -INFINITY, scores)
                                            : scores + mask;
  a.weights = ctx.b(Op::_safe_softmax, {scores, -1});
  return a;
}

// Applies a recorded dropout mask to weights, or to their gradient.
Value after_dropout(VjpContext& ctx, const Value& weights) {
  if (!ctx.has("keep")) return weights;
  return weights * ctx.b.convert(ctx["keep"], weights.dtype()) * ctx.real("keep_scale");
}

// The gradient of the scores from that of the output.
Value of_scores(VjpContext& ctx, const Scores& a, const Value& g) {
  const Value weighted = after_dropout(ctx, ctx.b.matmul(g, ctx.b.transpose(a.v))) * a.weights;
  return weighted - a.weights * ctx.b.sum(weighted, {-1}, true);
}

std::vector<Value> attention_backward(VjpContext& ctx) {
  if (ctx.has("dropout_p") && ctx.real("dropout_p") > 0)
    return {ctx.b.fail("with dropout it has no derivative rule")};
  const Scores a = written_out(ctx);
  const Value g = ctx[ctx.has("grad_out_") ? "grad_out_" : "grad_out"];
  const Value scaled = of_scores(ctx, a, g) * a.scale;
  return {ctx.b.matmul(scaled, a.k), ctx.b.matmul(ctx.b.transpose(scaled), a.q),
          ctx.b.matmul(ctx.b.transpose(after_dropout(ctx, a.weights)), g)};
}

// The bias is added to the scores; the caller sums over broadcast dimensions.
Value kept_bias(VjpContext& ctx) { return of_scores(ctx, written_out(ctx), ctx.grad()); }

}  // namespace

DerivativeRules attention_rules() {
  return {
      vjp({Op::_scaled_dot_product_flash_attention_for_cpu},
          {{"query", flash_for_cpu<0>}, {"key", flash_for_cpu<1>}, {"value", flash_for_cpu<2>}}, 1),
      vjp({Op::_scaled_dot_product_flash_attention},
          {{"query", flash<0>}, {"key", flash<1>}, {"value", flash<2>}}, 1),
      vjp({Op::_scaled_dot_product_efficient_attention},
          {{"query", efficient<0>},
           {"key", efficient<1>},
           {"value", efficient<2>},
           {"attn_bias", efficient<3>}},
          1),
      vjp({Op::_scaled_dot_product_cudnn_attention},
          {{"query", cudnn<0>}, {"key", cudnn<1>}, {"value", cudnn<2>}}, 1),
      vjp({Op::recut_scaled_dot_product_kept_attention},
          {{"query", kept<0>}, {"key", kept<1>}, {"value", kept<2>}, {"attn_bias", kept_bias}}, 1),
      decomposes({Op::scaled_dot_product_attention}, attention),
      decomposes({Op::_scaled_dot_product_flash_attention_for_cpu_backward,
                  Op::_scaled_dot_product_flash_attention_backward,
                  Op::_scaled_dot_product_efficient_attention_backward,
                  Op::_scaled_dot_product_cudnn_attention_backward,
                  Op::recut_scaled_dot_product_kept_attention_backward},
                 attention_backward, 3),
  };
}

}  // namespace recut::autodiff

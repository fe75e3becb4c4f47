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
Given maybe_out(Site& s, std::int64_t output) {
  return s.out_type(output).exists() ? Given(s.out(output)) : Given(None{});
}

// The fused operators differ in what they return and in the order of their backward's arguments;
// each backward gives the gradients of query, key and value in this order.
template <std::int64_t part>
Value flash_for_cpu(Site& s) {
  return s.b(Op::_scaled_dot_product_flash_attention_for_cpu_backward,
             {s.grad(), s["query"], s["key"], s["value"], s.out(0), s.out(1), s.given("dropout_p"),
              s.given("is_causal")},
             {{"attn_mask", s.given("attn_mask")}, {"scale", s.given("scale")}})[part];
}

template <std::int64_t part>
Value flash(Site& s) {
  return s.b(Op::_scaled_dot_product_flash_attention_backward,
             {s.grad(), s["query"], s["key"], s["value"], s.out(0), s.out(1), maybe_out(s, 2),
              maybe_out(s, 3), s["query"].size(2), s["key"].size(2), s.given("dropout_p"),
              s.given("is_causal"), s.out(6), s.out(7)},
             {{"scale", s.given("scale")}})[part];
}

template <std::int64_t part>
Value efficient(Site& s) {
  const ArgumentList mask = {s.wants("query"), s.wants("key"), s.wants("value"),
                             s.wants("attn_bias")};
  return s.b(Op::_scaled_dot_product_efficient_attention_backward,
             {s.grad(), s["query"], s["key"], s["value"], s.given("attn_bias"), s.out(0), s.out(1),
              s.out(2), s.out(3), s.given("dropout_p"), mask, s.given("is_causal")},
             {{"scale", s.given("scale")}})[part];
}

template <std::int64_t part>
Value kept(Site& s) {
  return s.b(Op::recut_scaled_dot_product_kept_attention_backward,
             {s.grad(), s["query"], s["key"], s["value"], s.given("attn_bias"), s["keep"], s.out(0),
              s.out(1), s.given("keep_scale"), s.given("is_causal")},
             {{"scale", s.given("scale")}})[part];
}

template <std::int64_t part>
Value cudnn(Site& s) {
  return s.b(Op::_scaled_dot_product_cudnn_attention_backward,
             {s.grad(), s["query"], s["key"], s["value"], s.out(0), s.out(1), s.out(6), s.out(7),
              s.given("attn_bias"), maybe_out(s, 2), maybe_out(s, 3), s["query"].size(2),
              s["key"].size(2), s.given("dropout_p"), s.given("is_causal")},
             {{"scale", s.given("scale")}})[part];
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
std::vector<Value> attention(Site& s) {
  if (s.real("dropout_p") > 0) return {s.b.fail("with dropout it has no derivative rule")};
  const Value q = s["query"];
  Value k = s["key"], v = s["value"];
  if (s.has("enable_gqa") && s.boolean("enable_gqa"))
    k = for_all_heads(k, q), v = for_all_heads(v, q);
  const double scale =
      s.is_given("scale") ? s.real("scale") : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  Value scores = s.b.matmul(q, s.b.transpose(k)) * scale;
  const auto masked = [&](const Value& allowed) {
    return number_where(negated(allowed), -INFINITY, scores);
  };
  if (s.boolean("is_causal")) scores = masked(causal_mask(s.b, q.size(-2), k.size(-2)));
  const Value mask = s[s.has("attn_mask") ? "attn_mask" : "attn_bias"];
  if (mask.valid()) scores = mask.dtype() == DType::boolean ? masked(mask) : scores + mask;
  return {s.b.matmul(s.b(Op::_safe_softmax, {scores, -1}), v)};
}

// The fused backward decomposed into the gradient of a softmax, for second derivatives.
struct Scores {
  Value q, k, v, weights;  // weights = softmax of the scores
  double scale;
};

Scores written_out(Site& s) {
  Scores a{s["query"], s["key"], s["value"], {}, 0};
  a.scale =
      s.is_given("scale") ? s.real("scale") : 1 / std::sqrt(static_cast<double>(a.q.size(-1)));
  Value scores = s.b.matmul(a.q, s.b.transpose(a.k)) * a.scale;
  if (s.has("is_causal") && s.boolean("is_causal"))
    scores = number_where(negated(causal_mask(s.b, a.q.size(-2), a.k.size(-2))), -INFINITY, scores);
  const char* name = s.has("attn_mask") ? "attn_mask" : s.has("attn_bias") ? "attn_bias" : nullptr;
  const Value mask = name == nullptr ? Value() : s[name];
  if (mask.valid())
    scores = mask.dtype() == DType::boolean ? number_where(negated(mask), -INFINITY, scores)
                                            : scores + mask;
  a.weights = s.b(Op::_safe_softmax, {scores, -1});
  return a;
}

// Applies a recorded dropout mask to weights, or to their gradient.
Value after_dropout(Site& s, const Value& weights) {
  if (!s.has("keep")) return weights;
  return weights * s.b.convert(s["keep"], weights.dtype()) * s.real("keep_scale");
}

// The gradient of the scores from that of the output.
Value of_scores(Site& s, const Scores& a, const Value& g) {
  const Value weighted = after_dropout(s, s.b.matmul(g, s.b.transpose(a.v))) * a.weights;
  return weighted - a.weights * s.b.sum(weighted, {-1}, true);
}

std::vector<Value> attention_backward(Site& s) {
  if (s.has("dropout_p") && s.real("dropout_p") > 0)
    return {s.b.fail("with dropout it has no derivative rule")};
  const Scores a = written_out(s);
  const Value g = s[s.has("grad_out_") ? "grad_out_" : "grad_out"];
  const Value scaled = of_scores(s, a, g) * a.scale;
  return {s.b.matmul(scaled, a.k), s.b.matmul(s.b.transpose(scaled), a.q),
          s.b.matmul(s.b.transpose(after_dropout(s, a.weights)), g)};
}

// The bias is added to the scores; what broadcasting repeated is summed by the caller.
Value kept_bias(Site& s) { return of_scores(s, written_out(s), s.grad()); }

}  // namespace

Rows attention_rows() {
  return {
      formulas(
          {Op::_scaled_dot_product_flash_attention_for_cpu},
          {{"query", flash_for_cpu<0>}, {"key", flash_for_cpu<1>}, {"value", flash_for_cpu<2>}}, 1),
      formulas({Op::_scaled_dot_product_flash_attention},
               {{"query", flash<0>}, {"key", flash<1>}, {"value", flash<2>}}, 1),
      formulas({Op::_scaled_dot_product_efficient_attention},
               {{"query", efficient<0>},
                {"key", efficient<1>},
                {"value", efficient<2>},
                {"attn_bias", efficient<3>}},
               1),
      formulas({Op::_scaled_dot_product_cudnn_attention},
               {{"query", cudnn<0>}, {"key", cudnn<1>}, {"value", cudnn<2>}}, 1),
      formulas({Op::recut_scaled_dot_product_kept_attention},
               {{"query", kept<0>}, {"key", kept<1>}, {"value", kept<2>}, {"attn_bias", kept_bias}},
               1),
      expands({Op::scaled_dot_product_attention}, attention),
      expands({Op::_scaled_dot_product_flash_attention_for_cpu_backward,
               Op::_scaled_dot_product_flash_attention_backward,
               Op::_scaled_dot_product_efficient_attention_backward,
               Op::_scaled_dot_product_cudnn_attention_backward,
               Op::recut_scaled_dot_product_kept_attention_backward},
              attention_backward, 3),
  };
}

}  // namespace recut::autodiff

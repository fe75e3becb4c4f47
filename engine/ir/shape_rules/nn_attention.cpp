// Rules of attention and of recurrent cells.
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

struct Attention {
  std::int64_t batch, heads, queries, keys, features, value_features;
};

// query [B, H, M, K], key [B, H, N, K], value [B, H, N, V]. Grouped-query attention has fewer heads
// of keys and values, of which each serves H / heads(key) heads of queries.
Result<Attention> read_attention(const Call& call) {
  const Shape& q = call.tensor("query").shape;
  const Shape& k = call.tensor("key").shape;
  const Shape& v = call.tensor("value").shape;
  const bool ranks = q.size() == 4 && k.size() == 4 && v.size() == 4;
  if (!ranks || q[0] != k[0] || k[0] != v[0] || q[3] != k[3] || k[2] != v[2] || k[1] != v[1] ||
      (q[1] != k[1] && (k[1] == 0 || q[1] % k[1] != 0)))
    return error(fmt::format("query {}, key {} and value {} don't belong together", format_shape(q),
                             format_shape(k), format_shape(v)));
  return Attention{q[0], q[1], q[2], k[2], q[3], v[3]};
}

// `parameter`, if it is a tensor, must broadcast to [B, H, M, N].
Result<Done> check_mask(const Call& call, std::string_view parameter, const Attention& a) {
  if (!call.op().parameter(parameter) || !call.is_tensor(parameter)) return Done{};
  const Shape scores{a.batch, a.heads, a.queries, a.keys};
  const auto both = broadcast(call.tensor(parameter).shape, scores);
  if (both && *both == scores) return Done{};
  return error(fmt::format("{} of shape {} doesn't broadcast to {}", parameter,
                           format_shape(call.tensor(parameter).shape), format_shape(scores)));
}

Result<Attention> checked(const Call& call) {
  auto a = read_attention(call);
  if (!a) return a;
  for (const std::string_view mask : {"attn_bias", "attn_mask"}) {
    const auto fits = check_mask(call, mask, *a);
    if (!fits) return fits.diagnostics();
  }
  return a;
}

// [B, H, M, V] in the memory order of [B, M, H, V], which fused kernels write.
TensorType transposed_heads(const TensorType& like, Shape shape) {
  TensorType out = make_type(like.dtype, std::move(shape), like.device);
  const Strides s =
      contiguous_strides(Shape{out.shape[0], out.shape[2], out.shape[1], out.shape[3]});
  out.strides = {s[0], s[2], s[1], s[3]};
  return out;
}

TensorType output_type(const Call& call, const Attention& a) {
  return transposed_heads(call.tensor("query"), {a.batch, a.heads, a.queries, a.value_features});
}

TensorType row_statistics(const Call& call, Shape shape) {
  return make_type(DType::f32, std::move(shape), call.tensor("query").device);
}

TensorType host_number(const Call& call) {
  return make_type(DType::i64, {}, call.tensor("query").device);
}

// The gradients of query, key and value, once the gradient of the output has the output's shape.
Inferred gradients(const Call& call, std::string_view grad) {
  const auto a = checked(call);
  if (!a) return a.diagnostics();
  const Shape expected{a->batch, a->heads, a->queries, a->value_features};
  for (const std::string_view parameter : {grad, std::string_view("out")})
    if (call.tensor(parameter).shape != expected)
      return error(fmt::format("{} of shape {}, expected {}", parameter,
                               format_shape(call.tensor(parameter).shape), format_shape(expected)));
  const Shape& sums = call.tensor("logsumexp").shape;
  if (sums.size() < 3 || sums[0] != a->batch || sums[1] != a->heads || sums[2] < a->queries)
    return error(fmt::format("logsumexp of shape {} for {} rows", format_shape(sums), a->queries));
  Types types;
  for (const std::string_view parameter : {"query", "key", "value"})
    types.push_back(transposed_heads(call.tensor(parameter), call.tensor(parameter).shape));
  return types;
}

}  // namespace

Inferred efficient_attention(const Call& call) {
  const auto a = checked(call);
  if (!a) return a.diagnostics();
  const std::int64_t rows = call.boolean("compute_log_sumexp") ? (a->queries + 31) / 32 * 32 : 0;
  return Types{output_type(call, *a), row_statistics(call, {a->batch, a->heads, rows}),
               host_number(call), host_number(call)};
}

Inferred efficient_attention_backward(const Call& call) {
  auto types = gradients(call, "grad_out_");
  if (!types) return types;
  const auto mask = call.booleans("grad_input_mask");
  if (mask.size() != 4) return error(fmt::format("grad_input_mask has {} items", mask.size()));
  if (call.is_tensor("attn_bias") && mask[3]) {
    const TensorType& bias = call.tensor("attn_bias");
    types->push_back(make_type(bias.dtype, bias.shape, bias.device));
  } else {
    types->emplace_back();
  }
  // PyTorch returns the gradients of query, key and value together, whatever the mask.
  return types;
}

Inferred flash_attention(const Call& call) {
  const auto a = checked(call);
  if (!a) return a.diagnostics();
  const TensorType none;
  TensorType debug = make_type(call.tensor("query").dtype, {0}, call.tensor("query").device);
  TensorType random = make_type(DType::i64, {2}, call.tensor("query").device);
  return Types{output_type(call, *a),
               row_statistics(call, {a->batch, a->heads, a->queries}),
               none,
               none,
               none,
               none,
               std::move(random),
               host_number(call),
               std::move(debug)};
}

Inferred cudnn_attention(const Call& call) {
  const auto a = checked(call);
  if (!a) return a.diagnostics();
  const TensorType none;
  return Types{output_type(call, *a),
               row_statistics(call, {a->batch, a->heads, a->queries, 1}),
               none,
               none,
               none,
               none,
               host_number(call),
               host_number(call),
               none};
}

Inferred flash_attention_backward(const Call& call) { return gradients(call, "grad_out"); }

Inferred flash_attention_for_cpu(const Call& call) {
  const auto a = checked(call);
  if (!a) return a.diagnostics();
  const TensorType& q = call.tensor("query");
  TensorType out = q;
  out.shape[3] = a->value_features;
  if (!is_dense(q) || q.shape[3] != a->value_features) out.strides = contiguous_strides(out.shape);
  TensorType sums = row_statistics(call, {a->batch, a->heads, a->queries});
  const Strides s = contiguous_strides(Shape{a->batch, a->queries, a->heads});
  sums.strides = {s[0], s[2], s[1]};
  return Types{std::move(out), std::move(sums)};
}

Inferred flash_attention_for_cpu_backward(const Call& call) { return gradients(call, "grad_out"); }

namespace {

// One bool for each score.
Result<Done> check_keep(const Call& call) {
  const auto a = checked(call);
  if (!a) return a.diagnostics();
  const TensorType& keep = call.tensor("keep");
  const Shape scores{a->batch, a->heads, a->queries, a->keys};
  if (keep.dtype == DType::boolean && keep.shape == scores) return Done{};
  return error(fmt::format("keep is {}, expected bool{}", format(keep), format_shape(scores)));
}

}  // namespace

Inferred kept_attention(const Call& call) {
  const auto keeps = check_keep(call);
  if (!keeps) return keeps.diagnostics();
  const auto a = checked(call);
  return Types{output_type(call, *a), row_statistics(call, {a->batch, a->heads, a->queries})};
}

Inferred kept_attention_backward(const Call& call) {
  const auto keeps = check_keep(call);
  if (!keeps) return keeps.diagnostics();
  return gradients(call, "grad_out");
}

namespace {

// The leading dimensions of the result: all three broadcast, or query's own where its heads are
// grouped over fewer heads of keys and values.
Result<Shape> sdpa_batch(const Shape& q, const Shape& k, const Shape& v, bool grouped) {
  const Shape of_q(q.begin(), q.end() - 2);
  const Shape of_k(k.begin(), k.end() - 2);
  const Shape of_v(v.begin(), v.end() - 2);
  if (!grouped) {
    const auto both = broadcast(of_q, of_k);
    return both ? broadcast(*both, of_v) : both;
  }
  const bool fits = !of_q.empty() && of_q.size() == of_k.size() && of_k == of_v &&
                    std::equal(of_q.begin(), of_q.end() - 1, of_k.begin()) && of_k.back() > 0 &&
                    of_q.back() % of_k.back() == 0;
  if (fits) return of_q;
  return error(fmt::format("query {}, key {} and value {} don't group their heads", format_shape(q),
                           format_shape(k), format_shape(v)));
}

}  // namespace

Inferred scaled_dot_product_attention(const Call& call) {
  const Shape& q = call.tensor("query").shape;
  const Shape& k = call.tensor("key").shape;
  const Shape& v = call.tensor("value").shape;
  const bool ranks = q.size() >= 2 && k.size() >= 2 && v.size() >= 2;
  if (!ranks || q.back() != k.back() || k[k.size() - 2] != v[v.size() - 2])
    return error(fmt::format("query {}, key {} and value {} don't belong together", format_shape(q),
                             format_shape(k), format_shape(v)));
  auto batch = sdpa_batch(q, k, v, call.boolean("enable_gqa"));
  if (!batch) return batch.diagnostics();
  batch->push_back(q[q.size() - 2]);
  batch->push_back(k[k.size() - 2]);
  if (call.is_tensor("attn_mask")) {
    const auto mask = broadcast(call.tensor("attn_mask").shape, *batch);
    if (!mask || *mask != *batch)
      return error(fmt::format("attn_mask of shape {} doesn't broadcast to {}",
                               format_shape(call.tensor("attn_mask").shape), format_shape(*batch)));
  }
  batch->back() = v.back();
  return one(make_type(call.tensor("query").dtype, std::move(*batch), call.tensor("query").device));
}

// Recurrent cells.
// ------------------------------------------------------------------------------------------------

namespace {

// Gates of `count` times the features of `state`, side by side, one row a sample.
Result<Done> check_gates(const Call& call, std::string_view gates, const Shape& state,
                         std::int64_t count) {
  const Shape& shape = call.tensor(gates).shape;
  if (state.size() == 2 && shape.size() == 2 && shape[0] == state[0] && state[1] <= kMaxBytes &&
      shape[1] == count * state[1])
    return Done{};
  return error(fmt::format("{} of shape {} for a state of shape {}, expected {} gates", gates,
                           format_shape(shape), format_shape(state), count));
}

Result<Done> check_biases(const Call& call, std::int64_t length) {
  for (const std::string_view bias : {"input_bias", "hidden_bias"})
    if (call.is_tensor(bias) && call.tensor(bias).shape != Shape{length})
      return error(fmt::format("{} of shape {}, expected [{}]", bias,
                               format_shape(call.tensor(bias).shape), length));
  return Done{};
}

TensorType like(const TensorType& type, Shape shape) {
  return make_type(type.dtype, std::move(shape), type.device);
}

}  // namespace

Inferred fused_lstm_cell(const Call& call) {
  const TensorType& gates = call.tensor("input_gates");
  const TensorType& state = call.tensor("cx");
  for (const std::string_view parameter : {"input_gates", "hidden_gates"}) {
    const auto fits = check_gates(call, parameter, state.shape, 4);
    if (!fits) return fits.diagnostics();
  }
  const auto biases = check_biases(call, gates.shape[1]);
  if (!biases) return biases.diagnostics();
  return Types{like(gates, state.shape), like(state, state.shape), like(gates, gates.shape)};
}

Inferred fused_lstm_cell_backward(const Call& call) {
  const TensorType& state = call.tensor("cx");
  const TensorType& gates = call.tensor("workspace");
  const auto fits = check_gates(call, "workspace", state.shape, 4);
  if (!fits) return fits.diagnostics();
  for (const std::string_view parameter : {"grad_hy", "grad_cy", "cy"})
    if (call.is_tensor(parameter) && call.tensor(parameter).shape != state.shape)
      return error(fmt::format("{} of shape {}, expected {}", parameter,
                               format_shape(call.tensor(parameter).shape),
                               format_shape(state.shape)));
  TensorType bias;
  if (call.boolean("has_bias")) bias = like(gates, {gates.shape[1]});
  return Types{like(gates, gates.shape), like(state, state.shape), std::move(bias)};
}

Inferred fused_gru_cell(const Call& call) {
  const TensorType& state = call.tensor("hx");
  const TensorType& gates = call.tensor("input_gates");
  for (const std::string_view parameter : {"input_gates", "hidden_gates"}) {
    const auto fits = check_gates(call, parameter, state.shape, 3);
    if (!fits) return fits.diagnostics();
  }
  const auto biases = check_biases(call, gates.shape[1]);
  if (!biases) return biases.diagnostics();
  return Types{like(state, state.shape), like(state, {state.shape[0], 5 * state.shape[1]})};
}

Inferred fused_gru_cell_backward(const Call& call) {
  const TensorType& grad = call.tensor("grad_hy");
  const auto fits = check_gates(call, "workspace", grad.shape, 5);
  if (!fits) return fits.diagnostics();
  const Shape gates{grad.shape[0], 3 * grad.shape[1]};
  TensorType bias;
  if (call.boolean("has_bias")) bias = like(grad, {gates[1]});
  return Types{like(grad, gates), like(grad, gates), like(grad, grad.shape), bias, bias};
}

}  // namespace recut::rules

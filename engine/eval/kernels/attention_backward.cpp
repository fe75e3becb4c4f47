// Gradients of attention. With P the softmax and O = P V:
//   dV = P^T dO,  dS = P (dO V^T - rowsum(dO O)),  dQ = scale dS K,  dK = scale dS^T Q
// and with dropout D(P) for P in dV and D(dO V^T) for dO V^T.
// P is recomputed from the scores and the logarithms of their sums, as in FlashAttention (Dao et
// al. 2022).
#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/attention.h"
#include "engine/eval/kernels/gemm.h"

namespace recut {
namespace {

struct Gradients {
  Reals query, key, value, mask;
};

// A block of rows [begin, end) of a head.
struct Block {
  std::int64_t head, begin, end;
  std::int64_t rows() const { return end - begin; }
};

// Scores to probabilities: exp(score - log sum).
void to_probabilities(const Attention& a, const Block& b, const Reals& sums,
                      std::vector<double>& scores) {
  const std::int64_t stored = sums.count() / (a.batch * a.heads);
  for (std::int64_t i = 0; i < b.rows(); ++i) {
    const double log_sum = sums[b.head * stored + b.begin + i];
    for (std::int64_t j = 0; j < a.keys; ++j) {
      double& x = scores[static_cast<std::size_t>(i * a.keys + j)];
      x = x == -INFINITY ? 0.0 : std::exp(x - log_sum);
    }
  }
}

// dS from P, dO and O.
std::vector<double> score_gradients(const Attention& a, const Block& b, const double* grad,
                                    const double* out, const std::vector<double>& probabilities,
                                    const std::vector<double>& transposed_value) {
  std::vector<double> gradients(probabilities.size(), 0.0);
  const std::int64_t width = a.value_features;
  multiply_add(b.rows(), width, a.keys, {grad, width}, {transposed_value.data(), a.keys},
               gradients.data(), a.keys);
  apply_dropout(a, b.head, b.begin, gradients);
  for (std::int64_t i = 0; i < b.rows(); ++i) {
    double shared = 0;
    for (std::int64_t j = 0; j < width; ++j) shared += grad[i * width + j] * out[i * width + j];
    for (std::int64_t j = 0; j < a.keys; ++j) {
      const auto at = static_cast<std::size_t>(i * a.keys + j);
      gradients[at] = probabilities[at] * (gradients[at] - shared);
    }
  }
  return gradients;
}

void add_mask_gradients(const Attention& a, const Block& b, const std::vector<double>& gradients,
                        Reals& mask) {
  const std::int64_t base = b.head / a.heads * a.mask_steps[0] + b.head % a.heads * a.mask_steps[1];
  for (std::int64_t i = 0; i < b.rows(); ++i)
    for (std::int64_t j = 0; j < a.keys; ++j)
      mask[base + (b.begin + i) * a.mask_steps[2] + j * a.mask_steps[3]] +=
          gradients[static_cast<std::size_t>(i * a.keys + j)];
}

void add_block(const Attention& a, const Block& b, const Reals& grad, const Reals& out,
               const Reals& sums, const std::vector<double>& transposed_key,
               const std::vector<double>& transposed_value, Gradients& g) {
  const std::int64_t width = a.value_features;
  const std::int64_t at = (b.head * a.queries + b.begin) * width;
  const std::int64_t key_head = a.key_head(b.head);
  auto probabilities = attention_scores(a, b.head, b.begin, b.end, transposed_key);
  to_probabilities(a, b, sums, probabilities);
  const double* grad_rows = grad.data.data() + at;
  auto kept = probabilities;
  apply_dropout(a, b.head, b.begin, kept);
  const auto transposed_p = transposed_copy(kept.data(), b.rows(), a.keys);
  multiply_add(a.keys, b.rows(), width, {transposed_p.data(), b.rows()}, {grad_rows, width},
               g.value.data.data() + key_head * a.keys * width, width);
  auto scores =
      score_gradients(a, b, grad_rows, out.data.data() + at, probabilities, transposed_value);
  if (!g.mask.data.empty()) add_mask_gradients(a, b, scores, g.mask);
  for (double& x : scores) x *= a.scale;
  multiply_add(b.rows(), a.keys, a.features, {scores.data(), a.keys},
               {a.key_of(b.head), a.features},
               g.query.data.data() + (b.head * a.queries + b.begin) * a.features, a.features);
  const auto transposed_scores = transposed_copy(scores.data(), b.rows(), a.keys);
  multiply_add(a.keys, b.rows(), a.features, {transposed_scores.data(), b.rows()},
               {a.query_of(b.head, b.begin), a.features},
               g.key.data.data() + key_head * a.keys * a.features, a.features);
}

Result<Done> attention_backward(KernelContext& c) {
  const auto read = read_attention(c);
  if (!read) return read.diagnostics();
  const Attention& a = *read;
  const Reals grad = c.reals(c.call.op().parameters[0].name);
  const Reals out = c.reals("out");
  const Reals sums = c.reals("logsumexp");
  Gradients g{Reals(a.query.shape), Reals(a.key.shape), Reals(a.value.shape), Reals()};
  const bool with_mask = c.outputs.size() > 3 && c.requested(3);
  if (with_mask) g.mask = Reals(a.mask.shape);
  for (std::int64_t head = 0; head < a.batch * a.heads; ++head) {
    const auto transposed_key = transposed_copy(a.key_of(head), a.keys, a.features);
    const auto transposed_value = transposed_copy(a.value_of(head), a.keys, a.value_features);
    for (std::int64_t begin = 0; begin < a.queries; begin += kRowsAtOnce)
      add_block(a, {head, begin, std::min(begin + kRowsAtOnce, a.queries)}, grad, out, sums,
                transposed_key, transposed_value, g);
  }
  c.write(g.query, 0);
  c.write(g.key, 1);
  c.write(g.value, 2);
  if (with_mask) c.write(g.mask, 3);
  return Done{};
}

}  // namespace

void add_attention_backward_kernels(KernelTable& t) {
  for (const Op op : {Op::_scaled_dot_product_efficient_attention_backward,
                      Op::_scaled_dot_product_flash_attention_backward,
                      Op::_scaled_dot_product_cudnn_attention_backward,
                      Op::_scaled_dot_product_flash_attention_for_cpu_backward,
                      Op::recut_scaled_dot_product_kept_attention_backward})
    t.add(op, attention_backward);
}

}  // namespace recut

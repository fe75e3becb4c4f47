// Reference attention, head by head in blocks of rows: scores, softmax, dropout, product with the
// values. It materialises one block of scores at a time, O(block x keys) memory, which is enough
// for the logarithms of sums that the backward kernels need (attention_backward.cpp).
#include "engine/eval/kernels/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"

namespace recut {
namespace {

// Leading dimensions that broadcast, as one batch of single heads: scaled_dot_product_attention
// takes tensors of any rank.
void flatten_batch(const KernelContext& c, Attention& a) {
  const Shape& out = c.output_types[0].shape;
  const Shape batch(out.begin(), out.end() - 2);
  const auto spread = [&](Reals& x) {
    Shape shape = batch;
    shape.insert(shape.end(), x.shape.end() - 2, x.shape.end());
    x = elementwise::broadcast_to(x, shape);
  };
  spread(a.query);
  if (!c.call.boolean("enable_gqa")) {
    spread(a.key);
    spread(a.value);
    a.batch = element_count(batch);
  } else {
    a.heads = batch.empty() ? 1 : batch.back();
    a.key_heads = a.key.rank() < 3 ? 1 : a.key.shape[a.key.shape.size() - 3];
    a.batch = batch.empty() ? 1 : element_count(Shape(batch.begin(), batch.end() - 1));
  }
}

void read_mask(const KernelContext& c, Attention& a, std::string_view parameter) {
  if (!c.call.op().parameter(parameter) || !c.call.is_tensor(parameter)) return;
  a.mask = c.reals(parameter);
  a.mask_keeps = c.tensor(parameter).dtype == DType::boolean;
  Shape all{a.batch, a.heads, a.queries, a.keys};
  if (c.call.op().op == Op::scaled_dot_product_attention) {
    Shape scores = c.output_types[0].shape;
    scores.back() = a.keys;
    a.mask = elementwise::broadcast_to(a.mask, scores);
    a.mask.shape = all;
  }
  std::int64_t step = 1;
  for (std::size_t i = 0; i < a.mask.shape.size(); ++i) {
    const std::int64_t extent = a.mask.shape[a.mask.shape.size() - 1 - i];
    a.mask_steps[3 - i] = extent == 1 ? 0 : step;
    step *= extent;
  }
}

// Exponentials of a row of scores over their sum; returns the logarithm of the sum. A row without
// any key gives zeros, as PyTorch's fused kernels do.
double softmax_row(double* row, std::int64_t count) {
  double largest = -INFINITY;
  for (std::int64_t j = 0; j < count; ++j)
    if (row[j] > largest || std::isnan(row[j])) largest = row[j];
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    row[j] = row[j] == -INFINITY ? 0.0 : std::exp(row[j] - largest);
    sum += row[j];
  }
  if (sum == 0) return -INFINITY;
  for (std::int64_t j = 0; j < count; ++j) row[j] /= sum;
  return largest + std::log(sum);
}

Result<Done> attention(KernelContext& c) {
  const auto read = read_attention(c);
  if (!read) return read.diagnostics();
  const Attention& a = *read;
  Reals out(c.output_types[0].shape);
  // Rows of statistics may be padded; where they are, PyTorch's kernel leaves +inf.
  const bool with_sums = c.outputs.size() > 1 && c.requested(1);
  Reals sums = with_sums ? Reals(c.output_types[1].shape, INFINITY) : Reals();
  const std::int64_t rows = a.batch * a.heads == 0 ? 0 : sums.count() / (a.batch * a.heads);
  for (std::int64_t head = 0; head < a.batch * a.heads; ++head) {
    const auto transposed_key = transposed_copy(a.key_of(head), a.keys, a.features);
    for (std::int64_t begin = 0; begin < a.queries; begin += kRowsAtOnce) {
      const std::int64_t end = std::min(begin + kRowsAtOnce, a.queries);
      auto scores = attention_scores(a, head, begin, end, transposed_key);
      for (std::int64_t i = begin; i < end; ++i) {
        const double log_sum = softmax_row(scores.data() + (i - begin) * a.keys, a.keys);
        if (with_sums && i < rows) sums[head * rows + i] = log_sum;
      }
      apply_dropout(a, head, begin, scores);
      multiply_add(end - begin, a.keys, a.value_features, {scores.data(), a.keys},
                   {a.value_of(head), a.value_features},
                   out.data.data() + (head * a.queries + begin) * a.value_features,
                   a.value_features);
    }
  }
  c.write(out, 0);
  if (with_sums) c.write(sums, 1);
  return Done{};
}

}  // namespace

Result<Attention> read_attention(const KernelContext& c) {
  const auto has = [&](std::string_view name) { return c.call.op().parameter(name).has_value(); };
  if (has("dropout_p") && c.call.real("dropout_p") != 0)
    return error(
        fmt::format("{} with dropout can't be evaluated: its random numbers are the "
                    "device's own",
                    c.call.op().name));
  Attention a;
  a.query = c.reals("query");
  a.key = c.reals("key");
  a.value = c.reals("value");
  const std::size_t rank = a.query.shape.size();
  if (c.call.op().op == Op::scaled_dot_product_attention) {
    flatten_batch(c, a);
  } else {
    a.batch = a.query.shape[0];
    a.heads = a.query.shape[1];
    a.key_heads = a.key.shape[1];
  }
  a.queries = c.call.tensor("query").shape[rank - 2];
  a.features = c.call.tensor("query").shape[rank - 1];
  a.keys = a.key.shape[a.key.shape.size() - 2];
  a.value_features = a.value.shape.back();
  a.causal = has("is_causal") && c.call.boolean("is_causal");
  if (has("keep")) {
    a.keep = c.integers("keep");
    a.keep_scale = c.call.real("keep_scale");
  }
  a.scale =
      c.call.given("scale") ? c.call.real("scale") : 1 / std::sqrt(static_cast<double>(a.features));
  read_mask(c, a, "attn_bias");
  read_mask(c, a, "attn_mask");
  return a;
}

void apply_dropout(const Attention& a, std::int64_t head, std::int64_t begin,
                   std::vector<double>& rows) {
  if (a.keep.data.empty()) return;
  const std::int64_t first = (head * a.queries + begin) * a.keys;
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] *= a.keep[first + static_cast<std::int64_t>(i)] != 0 ? a.keep_scale : 0;
}

std::vector<double> transposed_copy(const double* from, std::int64_t rows, std::int64_t columns) {
  std::vector<double> to(static_cast<std::size_t>(rows * columns));
  transpose(rows, columns, from, to.data());
  return to;
}

std::vector<double> attention_scores(const Attention& a, std::int64_t head, std::int64_t begin,
                                     std::int64_t end, const std::vector<double>& transposed_key) {
  std::vector<double> scores(static_cast<std::size_t>((end - begin) * a.keys), 0.0);
  multiply_add(end - begin, a.features, a.keys, {a.query_of(head, begin), a.features},
               {transposed_key.data(), a.keys}, scores.data(), a.keys);
  const std::int64_t mask_base =
      head / a.heads * a.mask_steps[0] + head % a.heads * a.mask_steps[1];
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t j = 0; j < a.keys; ++j) {
      double& score = scores[static_cast<std::size_t>((i - begin) * a.keys + j)];
      score *= a.scale;
      bool hidden = a.causal && j > i;
      if (!a.mask.data.empty()) {
        const double m = a.mask[mask_base + i * a.mask_steps[2] + j * a.mask_steps[3]];
        if (a.mask_keeps)
          hidden = hidden || m == 0;
        else
          score += m;
      }
      if (hidden) score = -INFINITY;
    }
  return scores;
}

void add_attention_kernels(KernelTable& t) {
  for (const Op op :
       {Op::_scaled_dot_product_efficient_attention, Op::_scaled_dot_product_flash_attention,
        Op::_scaled_dot_product_cudnn_attention, Op::_scaled_dot_product_flash_attention_for_cpu,
        Op::scaled_dot_product_attention, Op::recut_scaled_dot_product_kept_attention})
    t.add(op, attention);
}

}  // namespace recut

// Multi-head attention, shared by forward and backward kernels.
#pragma once

#include <array>
#include <vector>

#include "engine/eval/kernel.h"

namespace recut {

// (softmax(query key^T * scale + mask) kept) value, head by head. Arrays are [batch, heads,
// positions, features]; each head of keys and values serves heads / key_heads heads of queries.
struct Attention {
  Reals query, key, value;
  std::int64_t batch = 1, heads = 1, key_heads = 1;
  std::int64_t queries = 0, keys = 0, features = 0, value_features = 0;
  double scale = 1;
  bool causal = false;
  Reals mask;                                // empty: none
  bool mask_keeps = false;                   // a bool mask selects; other masks are added
  std::array<std::int64_t, 4> mask_steps{};  // 0 in broadcast dimensions
  Integers keep;  // [batch, heads, queries, keys]: the dropout mask; empty: no dropout
  double keep_scale = 1;

  const double* query_of(std::int64_t head, std::int64_t row) const {
    return query.data.data() + (head * queries + row) * features;
  }
  std::int64_t key_head(std::int64_t head) const {
    return head / heads * key_heads + head % heads / (heads / key_heads);
  }
  const double* key_of(std::int64_t head) const {
    return key.data.data() + key_head(head) * keys * features;
  }
  const double* value_of(std::int64_t head) const {
    return value.data.data() + key_head(head) * keys * value_features;
  }
};

// Rows of scores that are alive at once.
inline constexpr std::int64_t kRowsAtOnce = 64;

// Reads query, key, value, scale, is_causal, the mask and the dropout mask under any schema's
// names. Dropout by probability is an error: its random numbers are the device's own.
Result<Attention> read_attention(const KernelContext& c);

// Scores of rows [begin, end) of one head, scaled and masked: -inf for masked keys.
// `transposed_key` is the head's key, transposed to [features, keys].
std::vector<double> attention_scores(const Attention& a, std::int64_t head, std::int64_t begin,
                                     std::int64_t end, const std::vector<double>& transposed_key);

// Applies dropout to rows of probabilities, or of their gradients, from row `begin` of a head.
void apply_dropout(const Attention& a, std::int64_t head, std::int64_t begin,
                   std::vector<double>& rows);

// [rows, columns] at `from` as [columns, rows].
std::vector<double> transposed_copy(const double* from, std::int64_t rows, std::int64_t columns);

}  // namespace recut

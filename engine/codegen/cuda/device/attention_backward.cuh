// Attention's three backward kernels.
#pragma once

#include "engine/codegen/cuda/device/attention_forward.cuh"

//: helper attention_backward uses attention_forward
// With P the softmax and O = P V (and with dropout D(P) for P in dV and D(dO V^T) for dO V^T):
//   dV = P^T dO,  dS = P (dO V^T - rowsum(dO O)),  dQ = scale dS K,  dK = scale dS^T Q
// P is recomputed from the scores and the logarithms of their sums. One launch has rowsum(dO O),
// one goes over keys, and one over queries: each sums into elements that it alone writes, in order.

// Eight threads for each row, 16 bytes at once.
template <class Call>
__device__ inline void row_dot_products(const typename Call::Element* grad,
                                        const typename Call::Element* out, float* row_sums) {
  using F = typename Call::Format;
  const int number = int(blockIdx.x) * 16 + threadIdx.x / 8;
  const bool there = number < Call::batches * Call::heads * Call::queries;
  const int row = there ? number % Call::queries : 0, head = number / Call::queries % Call::heads;
  const int batch = there ? number / Call::queries / Call::heads : 0;
  const auto* const left = grad + Call::Grad::at(batch, head) + row * Call::Grad::row;
  const auto* const right = out + Call::Out::at(batch, head) + row * Call::Out::row;
  float sum = 0;
  for (int i = threadIdx.x % 8 * F::chunk; i < Call::value_features; i += 8 * F::chunk) {
    struct alignas(16) Chunk {
      typename F::Element of[F::chunk];
    };
    const Chunk a = *reinterpret_cast<const Chunk*>(left + i);
    const Chunk b = *reinterpret_cast<const Chunk*>(right + i);
    for (int j = 0; j < F::chunk; ++j) sum = __fmaf_rn(F::value(a.of[j]), F::value(b.of[j]), sum);
  }
  for (int by = 4; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (there && threadIdx.x % 8 == 0) row_sums[number] = sum;
}

// Scores become D(P), and products dO V^T become dS. A lane has the statistics of its two rows, or,
// transposed, of its columns.
template <class Call, bool transposed, int m_tiles, int n>
__device__ inline void to_score_gradients(float (&scores)[m_tiles][n][4],
                                          float (&products)[m_tiles][n][4],
                                          const float (&log_sums)[transposed ? n : m_tiles][2],
                                          const float (&row_sums)[transposed ? n : m_tiles][2],
                                          const unsigned char* keep, int row, int column) {
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int r = row + 16 * m + c / 2 * 8, k = column + 8 * i + c % 2;
        const int of = transposed ? i : m, which = transposed ? c % 2 : c / 2;
        const float score = scores[m][i][c];
        const float apart = (score - log_sums[of][which] * Call::units_of_nat) * Call::octaves;
        const float weight = score == minus_infinity() ? 0.0f : exp2_approx(apart);
        const float kept = Call::kept(keep, transposed ? k : r, transposed ? r : k);
        scores[m][i][c] = weight * kept;
        products[m][i][c] = weight * (products[m][i][c] * kept - row_sums[of][which]);
      }
}

// Four warps have 16 m_tiles queries each, and meet one block of keys after another.
template <class Call>
__device__ inline void attention_query_gradient_kernel(
    const typename Call::Element* query, const typename Call::Element* key,
    const typename Call::Element* value, const typename Call::Bias* bias, const unsigned char* keep,
    const typename Call::Element* grad, const float* log_sums, const float* row_sums,
    typename Call::Element* query_gradient) {
  using F = typename Call::Format;
  using Element = typename F::Element;
  constexpr int m_tiles = Call::m_tiles, block = Call::block, rows = 64 * m_tiles;
  constexpr int width = Call::features, wide = Call::value_features;
  constexpr int tiles = (Call::queries + rows - 1) / rows;
  constexpr int values = block * stride_of<F>(width), stage = values + block * stride_of<F>(wide);
  constexpr int grads = rows * stride_of<F>(width), owns = grads + rows * stride_of<F>(wide);
  extern __shared__ __align__(16) unsigned char shared[];
  Element* const mine = reinterpret_cast<Element*>(shared);
  Element* const stages = mine + owns;

  const int tile = tiles - 1 - int(blockIdx.x % tiles);
  const int head = int(blockIdx.x / tiles % Call::heads),
            batch = int(blockIdx.x / tiles / Call::heads);
  const int own = threadIdx.x / 32 * 16 * m_tiles, first = tile * rows + own;
  const int row = first + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  key += Call::Key::at(batch, head / Call::sharing);
  value += Call::Value::at(batch, head / Call::sharing);
  bias += Call::bias_at(batch, head);
  keep += Call::keep_at(batch, head);

  copy_tile_async<F, rows, width>(mine, query + Call::Query::at(batch, head), Call::Query::row,
                                  tile * rows, Call::queries);
  copy_tile_async<F, rows, wide>(mine + grads, grad + Call::Grad::at(batch, head), Call::Grad::row,
                                 tile * rows, Call::queries);
  end_group();
  float of_logs[m_tiles][2], of_rows[m_tiles][2];
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int q = row + 16 * m + 8 * half, r = q < Call::queries ? q : Call::queries - 1;
      of_logs[m][half] = log_sums[Call::LogSums::at(batch, head) + r * Call::LogSums::row];
      of_rows[m][half] = row_sums[(batch * Call::heads + head) * Call::queries + r];
    }
  wait_for_groups<0>();
  round_tile<F, rows, width>(mine);
  round_tile<F, rows, wide>(mine + grads);
  __syncthreads();
  LeftFragment<F, m_tiles, width, false> queries;
  LeftFragment<F, m_tiles, wide, false> gradients;
  queries.load(mine + own * stride_of<F>(width));
  gradients.load(mine + grads + own * stride_of<F>(wide));
  __syncthreads();

  const auto fetch_block = [&](int number) {
    Element* const to = stages + number % 2 * stage;
    copy_tile_async<F, block, width>(to, key, Call::Key::row, number * block, Call::keys);
    copy_tile_async<F, block, wide>(to + values, value, Call::Value::row, number * block,
                                    Call::keys);
  };
  float sums[m_tiles][padded(width) / 8][4];
  clear(sums);
  const int end = Call::causal && (tile + 1) * rows < Call::keys ? (tile + 1) * rows : Call::keys;
  const int blocks = (end + block - 1) / block;
  fetch_block(0);
  end_group();
  for (int b = 0; b < blocks; ++b) {
    Element* const keys = stages + b % 2 * stage;
    if (b + 1 < blocks) fetch_block(b + 1);
    end_group();
    wait_for_groups<1>();
    round_tile<F, block, width>(keys);
    round_tile<F, block, wide>(keys + values);
    __syncthreads();
    if (!Call::causal || b * block < first + 16 * m_tiles) {
      float scores[m_tiles][block / 8][4], score_gradients[m_tiles][block / 8][4];
      multiply<F, width>(scores, queries, keys);
      multiply<F, wide>(score_gradients, gradients, keys + values);
      to_scores<Call, false>(scores, bias, row, b * block + column);
      to_score_gradients<Call, false>(scores, score_gradients, of_logs, of_rows, keep, row,
                                      b * block + column);
      add_weighted<F, width>(sums, score_gradients, keys);
    }
    __syncthreads();
  }
  float factors[m_tiles][2];
  for (int m = 0; m < m_tiles; ++m) factors[m][0] = factors[m][1] = Call::scale;
  store_rows<F, width>(query_gradient + Call::QueryGradient::at(batch, head),
                       Call::QueryGradient::row, sums, factors, first, Call::queries);
}

// Four warps have 16 m_tiles keys each, and meet one block of queries after another, of all heads
// that share the keys.
template <class Call>
__device__ inline void attention_key_gradients_kernel(
    const typename Call::Element* query, const typename Call::Element* key,
    const typename Call::Element* value, const typename Call::Bias* bias, const unsigned char* keep,
    const typename Call::Element* grad, const float* log_sums, const float* row_sums,
    typename Call::Element* key_gradient, typename Call::Element* value_gradient) {
  using F = typename Call::Format;
  using Element = typename F::Element;
  constexpr int m_tiles = Call::m_tiles, block = Call::block, rows = 64 * m_tiles;
  constexpr int heads = Call::heads / Call::sharing;
  constexpr int width = Call::features, wide = Call::value_features;
  constexpr int tiles = (Call::keys + rows - 1) / rows;
  constexpr int grads = block * stride_of<F>(width), stage = grads + block * stride_of<F>(wide);
  constexpr int values = rows * stride_of<F>(width), owns = values + rows * stride_of<F>(wide);
  extern __shared__ __align__(16) unsigned char shared[];
  Element* const mine = reinterpret_cast<Element*>(shared);
  Element* const stages = mine + owns;

  const int tile = int(blockIdx.x % tiles);
  const int head = int(blockIdx.x / tiles % heads), batch = int(blockIdx.x / tiles / heads);
  const int own = threadIdx.x / 32 * 16 * m_tiles, first = tile * rows + own;
  const int row = first + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  copy_tile_async<F, rows, width>(mine, key + Call::Key::at(batch, head), Call::Key::row,
                                  tile * rows, Call::keys);
  copy_tile_async<F, rows, wide>(mine + values, value + Call::Value::at(batch, head),
                                 Call::Value::row, tile * rows, Call::keys);
  end_group();
  wait_for_groups<0>();
  round_tile<F, rows, width>(mine);
  round_tile<F, rows, wide>(mine + values);
  __syncthreads();
  LeftFragment<F, m_tiles, width, false> keys;
  LeftFragment<F, m_tiles, wide, false> of_values;
  keys.load(mine + own * stride_of<F>(width));
  of_values.load(mine + values + own * stride_of<F>(wide));
  __syncthreads();

  // Earlier queries see none of these keys.
  const int earliest = Call::causal ? tile * rows / block : 0;
  const int all = (Call::queries + block - 1) / block;
  const int count = all > earliest ? all - earliest : 0, blocks = Call::sharing * count;
  const auto fetch_block = [&](int number) {
    Element* const to = stages + number % 2 * stage;
    const int from = (earliest + number % count) * block;
    const int of = head * Call::sharing + number / count;
    copy_tile_async<F, block, width>(to, query + Call::Query::at(batch, of), Call::Query::row, from,
                                     Call::queries);
    copy_tile_async<F, block, wide>(to + grads, grad + Call::Grad::at(batch, of), Call::Grad::row,
                                    from, Call::queries);
  };
  float sums[m_tiles][padded(width) / 8][4], value_sums[m_tiles][padded(wide) / 8][4];
  clear(sums);
  clear(value_sums);
  if (blocks > 0) fetch_block(0);
  end_group();
  for (int b = 0; b < blocks; ++b) {
    Element* const queries = stages + b % 2 * stage;
    const int of = head * Call::sharing + b / count, from = (earliest + b % count) * block;
    if (b + 1 < blocks) fetch_block(b + 1);
    end_group();
    wait_for_groups<1>();
    round_tile<F, block, width>(queries);
    round_tile<F, block, wide>(queries + grads);
    __syncthreads();
    if (!Call::causal || from + block > first) {
      float scores[m_tiles][block / 8][4], score_gradients[m_tiles][block / 8][4];
      multiply<F, width>(scores, keys, queries);
      multiply<F, wide>(score_gradients, of_values, queries + grads);
      float of_logs[block / 8][2], of_rows[block / 8][2];
#pragma unroll
      for (int i = 0; i < block / 8; ++i)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int q = from + column + 8 * i + c, r = q < Call::queries ? q : Call::queries - 1;
          of_logs[i][c] = log_sums[Call::LogSums::at(batch, of) + r * Call::LogSums::row];
          of_rows[i][c] = row_sums[(batch * Call::heads + of) * Call::queries + r];
        }
      to_scores<Call, true>(scores, bias + Call::bias_at(batch, of), row, from + column);
      to_score_gradients<Call, true>(scores, score_gradients, of_logs, of_rows,
                                     keep + Call::keep_at(batch, of), row, from + column);
      add_weighted<F, wide>(value_sums, scores, queries + grads);
      add_weighted<F, width>(sums, score_gradients, queries);
    }
    __syncthreads();
  }
  float scales[m_tiles][2], ones[m_tiles][2];
  for (int m = 0; m < m_tiles; ++m)
    for (int half = 0; half < 2; ++half) {
      scales[m][half] = Call::scale;
      ones[m][half] = 1;
    }
  if constexpr (Call::requires_key_grad)
    store_rows<F, width>(key_gradient + Call::KeyGradient::at(batch, head), Call::KeyGradient::row,
                         sums, scales, first, Call::keys);
  if constexpr (Call::requires_value_grad)
    store_rows<F, wide>(value_gradient + Call::ValueGradient::at(batch, head),
                        Call::ValueGradient::row, value_sums, ones, first, Call::keys);
}

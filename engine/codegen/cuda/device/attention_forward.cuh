// Attention's forward kernel.
#pragma once

#include "engine/codegen/cuda/device/attention_formats.cuh"
#include "engine/codegen/cuda/device/attention_tiles.cuh"
#include "engine/codegen/cuda/device/tensor_cores.cuh"

//: helper attention_forward uses attention_tiles
// Scores of 16 m_tiles rows and 8 n columns: scaled, masked, -inf where a key is hidden. They are
// in units of log 2, which is a part of their scale, or natural ones where numbers are added that
// may be as large as there are. Rows are queries and columns keys, or transposed; a lane's first
// row and column are given.
template <class Call, bool transposed, bool checks, int m_tiles, int n>
__device__ inline void place_scores(float (&products)[m_tiles][n][4],
                                    const typename Call::Bias* bias, int row, int column) {
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int r = row + 16 * m + c / 2 * 8, k = column + 8 * i + c % 2;
        const int query = transposed ? k : r, key = transposed ? r : k;
        const bool seen = !checks || (key < Call::keys && query < Call::queries &&
                                      (!Call::causal || key <= query));
        const float score = products[m][i][c] * Call::score_scale;
        products[m][i][c] = seen ? Call::masked(score, bias, query, key) : minus_infinity();
      }
}
template <class Call, bool transposed, int m_tiles, int n>
__device__ inline void to_scores(float (&products)[m_tiles][n][4], const typename Call::Bias* bias,
                                 int row, int column) {
  const int lane = threadIdx.x % 32, first_row = row - lane / 4, first = column - lane % 4 * 2;
  const int last_row = first_row + 16 * m_tiles - 1, last = first + 8 * n - 1;
  const int last_key = transposed ? last_row : last, last_query = transposed ? last : last_row;
  if (last_key < Call::keys && last_query < Call::queries &&
      !(Call::causal && last_key > (transposed ? first : first_row)))
    place_scores<Call, transposed, false>(products, bias, row, column);
  else
    place_scores<Call, transposed, true>(products, bias, row, column);
}

// The four lanes of a row.
__device__ inline float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ inline float sum_of_row(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// Online softmax: scores become weights relative to the largest score so far, and earlier sums are
// rescaled. A largest score of -inf can't be subtracted: no key was seen yet.
template <class Call, int m_tiles, int n, int wide>
__device__ inline void online_softmax(float (&scores)[m_tiles][n][4], float (&largest)[m_tiles][2],
                                      float (&total)[m_tiles][2], float (&sums)[m_tiles][wide][4],
                                      const unsigned char* keep, int row, int column) {
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = largest[m][half];
#pragma unroll
      for (int i = 0; i < n; ++i)
        most = fmaxf(most, fmaxf(scores[m][i][2 * half], scores[m][i][2 * half + 1]));
      most = largest_of_row(most);
      const float base = most == minus_infinity() ? 0.0f : most;
      const float shrunk = exp2_approx((largest[m][half] - base) * Call::octaves);
      largest[m][half] = most;
      float sum = total[m][half] * shrunk;
#pragma unroll
      for (int i = 0; i < n; ++i)
#pragma unroll
        for (int c = 2 * half; c < 2 * half + 2; ++c) {
          const float weight = exp2_approx((scores[m][i][c] - base) * Call::octaves);
          sum += weight;
          scores[m][i][c] =
              weight * Call::kept(keep, row + 16 * m + 8 * half, column + 8 * i + c % 2);
        }
      total[m][half] = sum;
#pragma unroll
      for (int i = 0; i < wide; ++i) {
        sums[m][i][2 * half] *= shrunk;
        sums[m][i][2 * half + 1] *= shrunk;
      }
    }
}

// Means of values, and the logarithms of the sums of exponentials. A row without any key has zeros.
template <class Call, int m_tiles, int wide>
__device__ inline void store_means(typename Call::Element* out, float* log_sums,
                                   const float (&largest)[m_tiles][2], float (&total)[m_tiles][2],
                                   const float (&sums)[m_tiles][wide][4], int first) {
  float factors[m_tiles][2];
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = sum_of_row(total[m][half]);
      factors[m][half] = sum == 0 ? 0.0f : 1 / sum;
      const int row = first + 16 * m + 8 * half + lane / 4;
      if (lane % 4 != 0 || row >= Call::log_rows) continue;
      float log_sum = largest[m][half] * Call::nats + logf(sum);
      if (sum == 0) log_sum = minus_infinity();
      if (row >= Call::queries) log_sum = -minus_infinity();
      log_sums[row * Call::LogSums::row] = log_sum;
    }
  store_rows<typename Call::Format, Call::value_features>(out, Call::Out::row, sums, factors, first,
                                                          Call::queries);
}

// FlashAttention-2 (Dao 2023), after Milakov and Gimelshein's online softmax (2018): four warps
// have 16 m_tiles queries each, and meet one block of keys after another, the next one on its way.
template <class Call>
__device__ inline void attention_forward_kernel(const typename Call::Element* query,
                                                const typename Call::Element* key,
                                                const typename Call::Element* value,
                                                const typename Call::Bias* bias,
                                                const unsigned char* keep,
                                                typename Call::Element* out, float* log_sums) {
  using F = typename Call::Format;
  using Element = typename F::Element;
  constexpr int m_tiles = Call::m_tiles, block = Call::block, rows = 64 * m_tiles;
  constexpr int width = Call::features, wide = Call::value_features;
  constexpr int tiles = (Call::queries + rows - 1) / rows;
  constexpr int values = block * stride_of<F>(width), stage = values + block * stride_of<F>(wide);
  extern __shared__ __align__(16) unsigned char shared[];
  Element* const stages = reinterpret_cast<Element*>(shared);

  // With a causal mask, the longest rows first.
  const int tile = tiles - 1 - int(blockIdx.x % tiles);
  const int head = int(blockIdx.x / tiles % Call::heads),
            batch = int(blockIdx.x / tiles / Call::heads);
  const int own = threadIdx.x / 32 * 16 * m_tiles, first = tile * rows + own;
  const int row = first + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  query += Call::Query::at(batch, head);
  key += Call::Key::at(batch, head / Call::sharing);
  value += Call::Value::at(batch, head / Call::sharing);
  bias += Call::bias_at(batch, head);
  keep += Call::keep_at(batch, head);

  LeftFragment<F, m_tiles, width, true> queries;
  copy_tile_async<F, rows, width>(stages, query, Call::Query::row, tile * rows, Call::queries);
  end_group();
  wait_for_groups<0>();
  round_tile<F, rows, width>(stages);
  __syncthreads();
  queries.load(stages + own * stride_of<F>(width));
  __syncthreads();

  const auto fetch_block = [&](int number) {
    Element* const to = stages + number % 2 * stage;
    copy_tile_async<F, block, width>(to, key, Call::Key::row, number * block, Call::keys);
    copy_tile_async<F, block, wide>(to + values, value, Call::Value::row, number * block,
                                    Call::keys);
  };
  float largest[m_tiles][2], total[m_tiles][2], sums[m_tiles][padded(wide) / 8][4];
  clear(sums);
  for (int m = 0; m < m_tiles; ++m)
    for (int half = 0; half < 2; ++half) {
      largest[m][half] = minus_infinity();
      total[m][half] = 0;
    }
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
      float scores[m_tiles][block / 8][4];
      multiply<F, width>(scores, queries, keys);
      to_scores<Call, false>(scores, bias, row, b * block + column);
      online_softmax<Call>(scores, largest, total, sums, keep, row, b * block + column);
      add_weighted<F, wide>(sums, scores, keys + values);
    }
    __syncthreads();
  }
  store_means<Call>(out + Call::Out::at(batch, head), log_sums + Call::LogSums::at(batch, head),
                    largest, total, sums, first);
}

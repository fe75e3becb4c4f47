// Tiles of rows in shared memory, and their products.
#pragma once

#include "engine/codegen/cuda/device/attention_formats.cuh"
#include "engine/codegen/cuda/device/tensor_cores.cuh"

//: helper attention_tiles uses attention_formats
// The layout of a tensor of rows: its first element, and the elements from one batch, head and row
// to the next.
template <long long first, long long batch, long long head, long long row_step>
struct Rows {
  static constexpr long long row = row_step;
  static __device__ inline long long at(int b, int h) { return first + b * batch + h * head; }
};

// Rows in shared memory have zeros up to a multiple of 16, and 16 bytes more: so eight of them
// begin in different banks.
__device__ constexpr int padded(int width) { return (width + 15) / 16 * 16; }
template <class F>
__device__ constexpr int stride_of(int width) {
  return padded(width) + F::chunk;
}

// A tile that 128 threads copy, some chunks each: rows from `first` on, zeros behind the last of
// `count`.
template <class F, int rows, int width>
__device__ inline void copy_tile_async(typename F::Element* to, const typename F::Element* from,
                                       long long step, int first, int count) {
  constexpr int chunks = padded(width) / F::chunk;
  for (int i = threadIdx.x; i < rows * chunks; i += 128) {
    const int row = i / chunks, column = i % chunks * F::chunk;
    copy_async(to + row * stride_of<F>(width) + column, from + (first + row) * step + column,
               first + row < count && column < width);
  }
}
// Each thread's own chunks, once they have arrived.
template <class F, int rows, int width>
__device__ inline void round_tile(typename F::Element* fetched) {
  constexpr int chunks = padded(width) / F::chunk;
  if constexpr (F::rounds_in_shared)
    for (int i = threadIdx.x; i < rows * chunks; i += 128)
      F::round_tile(fetched + i / chunks * stride_of<F>(width) + i % chunks * F::chunk);
}

// A warp's own 16 rows, `m_tiles` times: left factors, from registers or each time from memory.
template <class F, int m_tiles, int width, bool in_registers>
struct LeftFragment {
  static constexpr int steps = padded(width) / F::step, stride = stride_of<F>(width);
  const typename F::Element* rows;
  unsigned kept[in_registers ? m_tiles : 1][in_registers ? steps : 1][4];

  __device__ inline void load(unsigned (&words)[4], int m, int step) const {
    const int lane = threadIdx.x % 32;
    load_matrices(words,
                  rows + (16 * m + lane % 16) * stride + step * F::step + lane / 16 * F::chunk);
  }
  __device__ inline void load(const typename F::Element* from) {
    rows = from;
    if constexpr (in_registers) {
#pragma unroll
      for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int step = 0; step < steps; ++step) load(kept[m][step], m, step);
    }
  }
  __device__ inline typename F::Left at(int m, int step) const {
    if constexpr (in_registers) return F::left(kept[m][step]);
    unsigned words[4];
    load(words, m, step);
    return F::left(words);
  }
};

template <int m_tiles, int n>
__device__ inline void clear(float (&sums)[m_tiles][n][4]) {
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) sums[m][i][c] = 0;
}

// sums = own others^T, of 8 n others.
template <class F, int width, int m_tiles, int n, bool in_registers>
__device__ inline void multiply(float (&sums)[m_tiles][n][4],
                                const LeftFragment<F, m_tiles, width, in_registers>& own,
                                const typename F::Element* others) {
  const int lane = threadIdx.x % 32;
  others += (lane % 8 + lane / 16 * 8) * stride_of<F>(width) + lane / 8 % 2 * F::chunk;
  clear(sums);
#pragma unroll
  for (int step = 0; step < padded(width) / F::step; ++step) {
    typename F::Left left[m_tiles];
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) left[m] = own.at(m, step);
#pragma unroll
    for (int pair = 0; pair < n / 2; ++pair) {
      unsigned right[4];
      load_matrices(right, others + 16 * pair * stride_of<F>(width) + step * F::step);
#pragma unroll
      for (int m = 0; m < m_tiles; ++m) {
        F::add_product(sums[m][2 * pair], left[m], right[0], right[1]);
        F::add_product(sums[m][2 * pair + 1], left[m], right[2], right[3]);
      }
    }
  }
}

// sums += weights others, of 8 n others.
template <class F, int width, int m_tiles, int n, int wide>
__device__ inline void add_weighted(float (&sums)[m_tiles][wide][4],
                                    const float (&weights)[m_tiles][n][4],
                                    const typename F::Element* others) {
#pragma unroll
  for (int step = 0; step < 8 * n / F::step; ++step) {
    typename F::Left left[m_tiles];
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) left[m] = F::left_of(weights[m], step);
#pragma unroll
    for (int pair = 0; pair < wide / 2; ++pair) {
      unsigned right[4];
      F::load_transposed(right, others + step * F::step * stride_of<F>(width) + 16 * pair,
                         stride_of<F>(width));
#pragma unroll
      for (int m = 0; m < m_tiles; ++m) {
        F::add_product(sums[m][2 * pair], left[m], right[0], right[1]);
        F::add_product(sums[m][2 * pair + 1], left[m], right[2], right[3]);
      }
    }
  }
}

// Rows of sums that lie below `count`, times a number for each.
template <class F, int width, int m_tiles, int wide>
__device__ inline void store_rows(typename F::Element* to, long long step,
                                  const float (&sums)[m_tiles][wide][4],
                                  const float (&factors)[m_tiles][2], int first, int count) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < m_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + 16 * m + 8 * half + lane / 4;
      if (row >= count) continue;
#pragma unroll
      for (int i = 0; i < width / 8; ++i)
        F::store(to + row * step + 8 * i + lane % 4 * 2, sums[m][i][2 * half] * factors[m][half],
                 sums[m][i][2 * half + 1] * factors[m][half]);
    }
}

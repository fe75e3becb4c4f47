// Indices and divisors that come from data: checks, and stream compaction of row indices.
#pragma once

//: helper checked
// Reports an index out of range, and continues with 0.
__device__ inline long long checked(long long index, long long below, long long n,
                                    long long* fault) {
  if (index >= 0 && index < below) return index;
  *fault = n;
  return 0;
}

//: helper collect_rows
// Stream compaction: of one chunk of numbers from `first` on, collects the numbers that name a row
// of the block, in order, with their rows. Returns their count. `row_of` gives a number's row, or
// -1.
template <int warps, int turns, class RowOf>
__device__ int collect_rows(int first, int count, int* numbers, int* rows, int* of_warps,
                            RowOf row_of) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = first + warp * turns * 32 + lane;
  int row[turns], mine = 0;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const int number = begin + 32 * turn;
    row[turn] = row_of(number < count ? number : count - 1);
    if (number >= count) row[turn] = -1;
  }
#pragma unroll
  for (int turn = 0; turn < turns; ++turn)
    mine += __popc(__ballot_sync(0xffffffffu, row[turn] >= 0));
  if (lane == 0) of_warps[warp] = mine;
  __syncthreads();
  int at = 0, all = 0;
  for (int w = 0; w < warps; ++w) {
    at += w < warp ? of_warps[w] : 0;
    all += of_warps[w];
  }
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const unsigned named = __ballot_sync(0xffffffffu, row[turn] >= 0);
    if (row[turn] >= 0) {
      const int position = at + __popc(named & ((1u << lane) - 1));
      numbers[position] = begin + 32 * turn;
      rows[position] = row[turn];
    }
    at += __popc(named);
  }
  __syncthreads();
  return all;
}

//: helper divisor
template <class T>
__device__ inline T divisor(T number, long long n, long long* fault) {
  if (number != 0) return number;
  *fault = n;
  return 1;
}

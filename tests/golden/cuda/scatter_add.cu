// Integers wrap around.
__device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ inline long long plus(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}

__device__ inline int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ inline long long times(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}

// Reports an index out of range, and continues with 0.
__device__ inline long long checked(long long index, long long below, long long n,
                                    long long* fault) {
  if (index >= 0 && index < below) return index;
  *fault = n;
  return 0;
}

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

__device__ inline float of_bfloat16(unsigned short bits) {
  return __int_as_float(int(unsigned(bits) << 16));
}

// To nearest even; NaN stays one.
__device__ inline unsigned short bfloat16(float x) {
#ifdef __CUDACC__
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
  return rounded;
#else
  const unsigned bits = unsigned(__float_as_int(x));
  return (unsigned short)((x != x ? bits | 0x400000u : bits + (bits >> 16 & 1u) + 0x7fffu) >> 16);
#endif
}

// kernel a row a block, columns over
// 70 items, scatter-add to 9 rows, 1 per block
extern "C" __global__ void __launch_bounds__(64) kernel_0_0(
    const long long* __restrict__ named,
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  int* const numbers = reinterpret_cast<int*>(shared);
  int* const rows = numbers + 512;
  int* const of_warps = rows + 512;
  for (int turn = blockIdx.x; turn < 18; turn += 18) {
    const int first_row = turn / 2;
    const int position = turn % 2 * 64 + threadIdx.x;
    const int i = position < 70 ? position : 69;
    float sums[1];
    unsigned named_1 = 0;  // rows
    for (int first = 0; first < 300; first += 512) {
      const int all = collect_rows<2, 8>(first, 300, numbers, rows, of_warps, [&](int n) -> int {
        const long long p = named[n];
        const long long m = int(unsigned(n) % 6);
        const long long q = times(p, 3LL);
        const long long r = plus(q, m);
        const long long row = checked(r, 9, 1, fault);
        const long long row_1 = row - first_row;
        return row_1 >= 0 && row_1 < 1 ? int(row_1) : -1;
      });
      if (all > 0 && named_1 == 0) {
        #pragma unroll
        for (int row_2 = 0; row_2 < 1; ++row_2) sums[row_2] = y[i + 70 * int((long long)(first_row + row_2))];
      }
      for (int first_1 = 0; first_1 < all; first_1 += 32) {
        float made[32];
        #pragma unroll
        for (int ahead = 0; ahead < 32; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int n = numbers[at];
          const float a = x[i + 70 * n];
          made[ahead] = a;
        }
        #pragma unroll
        for (int ahead = 0; ahead < 32; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int row_3 = first_1 + ahead == at ? rows[at] : -1;
          #pragma unroll
          for (int each = 0; each < 1; ++each) {
            sums[each] = row_3 == each ? made[ahead] + sums[each] : sums[each];
          }
          named_1 |= row_3 < 0 ? 0u : 1u << row_3;
        }
      }
    }
    #pragma unroll
    for (int row_4 = 0; row_4 < 1; ++row_4) {
      if (position < 70 && (named_1 >> row_4 & 1)) y[i + 70 * int((long long)(first_row + row_4))] = sums[row_4];
    }
  }
}

// kernel several rows a block, rounded sums
// 3 items, scatter-add to 5100 rows, 2 per block
extern "C" __global__ void __launch_bounds__(64) kernel_1_0(
    const long long* __restrict__ named,
    const unsigned short* __restrict__ x,
    unsigned short* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  int* const numbers = reinterpret_cast<int*>(shared);
  int* const rows = numbers + 512;
  int* const of_warps = rows + 512;
  for (int turn = blockIdx.x; turn < 2550; turn += 2550) {
    const int first_row = turn * 2;
    const int position = threadIdx.x;
    const int i = position < 3 ? position : 2;
    unsigned short sums[2];
    unsigned named_1 = 0;  // rows
    for (int first = 0; first < 700; first += 512) {
      const int all = collect_rows<2, 8>(first, 700, numbers, rows, of_warps, [&](int n) -> int {
        const long long p = named[n];
        const long long m = int(unsigned(n) % 13);
        const long long q = times(p, 5000LL);
        const long long r = plus(q, m);
        const long long row = checked(r, 5100, 2, fault);
        const long long row_1 = row - first_row;
        return row_1 >= 0 && row_1 < 2 ? int(row_1) : -1;
      });
      if (all > 0 && named_1 == 0) {
        #pragma unroll
        for (int row_2 = 0; row_2 < 2; ++row_2) sums[row_2] = y[i + 3 * int((long long)(first_row + row_2))];
      }
      for (int first_1 = 0; first_1 < all; first_1 += 16) {
        float made[16];
        #pragma unroll
        for (int ahead = 0; ahead < 16; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int n = numbers[at];
          const float a = of_bfloat16(x[i + 3 * n]);
          made[ahead] = a;
        }
        #pragma unroll
        for (int ahead = 0; ahead < 16; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int row_3 = first_1 + ahead == at ? rows[at] : -1;
          #pragma unroll
          for (int each = 0; each < 2; ++each) {
            sums[each] = row_3 == each ? bfloat16(made[ahead] + of_bfloat16(sums[each])) : sums[each];
          }
          named_1 |= row_3 < 0 ? 0u : 1u << row_3;
        }
      }
    }
    #pragma unroll
    for (int row_4 = 0; row_4 < 2; ++row_4) {
      if (position < 3 && (named_1 >> row_4 & 1)) y[i + 3 * int((long long)(first_row + row_4))] = sums[row_4];
    }
  }
}

// kernel all but padding, between other dimensions
// 80 items, scatter-add to 4 rows, 1 per block
extern "C" __global__ void __launch_bounds__(64) kernel_2_0(
    const long long* __restrict__ named,
    const double* __restrict__ x,
    const double* __restrict__ scale,
    double* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  int* const numbers = reinterpret_cast<int*>(shared);
  int* const rows = numbers + 128;
  int* const of_warps = rows + 128;
  for (int turn = blockIdx.x; turn < 8; turn += 8) {
    const int first_row = turn / 2;
    const int position = turn % 2 * 64 + threadIdx.x;
    const int item = position < 80 ? position : 79;
    const int i = int(unsigned(item) % 40);
    const int b = int(unsigned(item) / 40);
    const double s = scale[b];
    double sums[1];
    unsigned named_1 = 0;  // rows
    for (int first = 0; first < 100; first += 128) {
      const int all = collect_rows<2, 2>(first, 100, numbers, rows, of_warps, [&](int n) -> int {
        const long long p = named[n];
        const long long m = int(unsigned(n) % 3);
        const long long r = plus(p, m);
        const long long row = checked(r, 4, 3, fault);
        const bool other = row != 1LL;
        const long long row_1 = row - first_row;
        return other && row_1 >= 0 && row_1 < 1 ? int(row_1) : -1;
      });
      if (all > 0 && named_1 == 0) {
        #pragma unroll
        for (int row_2 = 0; row_2 < 1; ++row_2) sums[row_2] = y[160 * b + i + 40 * int((long long)(first_row + row_2))];
      }
      for (int first_1 = 0; first_1 < all; first_1 += 32) {
        double made[32];
        #pragma unroll
        for (int ahead = 0; ahead < 32; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int n = numbers[at];
          const double a = x[4000 * b + i + 40 * n];
          const double v = a * s;
          made[ahead] = v;
        }
        #pragma unroll
        for (int ahead = 0; ahead < 32; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int row_3 = first_1 + ahead == at ? rows[at] : -1;
          #pragma unroll
          for (int each = 0; each < 1; ++each) {
            sums[each] = row_3 == each ? made[ahead] + sums[each] : sums[each];
          }
          named_1 |= row_3 < 0 ? 0u : 1u << row_3;
        }
      }
    }
    #pragma unroll
    for (int row_4 = 0; row_4 < 1; ++row_4) {
      if (position < 80 && (named_1 >> row_4 & 1)) y[160 * b + i + 40 * int((long long)(first_row + row_4))] = sums[row_4];
    }
  }
}

// kernel the last one stays
// 1 item, scatter-add to 4 rows, 1 per block
extern "C" __global__ void __launch_bounds__(64) kernel_3_0(
    const long long* __restrict__ named,
    const int* __restrict__ x,
    int* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  int* const numbers = reinterpret_cast<int*>(shared);
  int* const rows = numbers + 512;
  int* const of_warps = rows + 512;
  for (int turn = blockIdx.x; turn < 4; turn += 4) {
    const int first_row = turn;
    const int position = threadIdx.x;
    const int i = position < 1 ? position : 0;
    int sums[1];
    unsigned named_1 = 0;  // rows
    for (int first = 0; first < 2500; first += 512) {
      const int all = collect_rows<2, 8>(first, 2500, numbers, rows, of_warps, [&](int n) -> int {
        const long long p = named[n];
        const long long m = int(unsigned(n) % 2);
        const long long r = plus(p, m);
        const long long row = checked(r, 4, 4, fault);
        const long long row_1 = row - first_row;
        return row_1 >= 0 && row_1 < 1 ? int(row_1) : -1;
      });
      if (all > 0 && named_1 == 0) {
        #pragma unroll
        for (int row_2 = 0; row_2 < 1; ++row_2) sums[row_2] = y[int((long long)(first_row + row_2))];
      }
      for (int first_1 = 0; first_1 < all; first_1 += 32) {
        int made[32];
        #pragma unroll
        for (int ahead = 0; ahead < 32; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int n = numbers[at];
          const int a = x[n];
          made[ahead] = a;
        }
        #pragma unroll
        for (int ahead = 0; ahead < 32; ++ahead) {
          const int at = first_1 + ahead < all ? first_1 + ahead : all - 1;
          const int row_3 = first_1 + ahead == at ? rows[at] : -1;
          #pragma unroll
          for (int each = 0; each < 1; ++each) {
            sums[each] = row_3 == each ? made[ahead] : sums[each];
          }
          named_1 |= row_3 < 0 ? 0u : 1u << row_3;
        }
      }
    }
    #pragma unroll
    for (int row_4 = 0; row_4 < 1; ++row_4) {
      if (position < 1 && (named_1 >> row_4 & 1)) y[int((long long)(first_row + row_4))] = sums[row_4];
    }
  }
}

// kernel columns that name rows of their own
// 48 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_4_0(
    const long long* __restrict__ named,
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= 48) return;
  for (int n = 0; n < 100; ++n) {
    const long long p = named[i + 48 * n];
    const long long row = checked(p, 2, 5, fault);
    const float a = x[i + 48 * n];
    y[i + 48 * int(row)] = a + y[i + 48 * int(row)];
  }
}

// kernel rows that are read as well
// 48 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_5_0(
    const long long* __restrict__ named,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= 48) return;
  for (int n = 0; n < 100; ++n) {
    const long long p = named[n];
    const long long row = checked(p, 2, 6, fault);
    const float a = y[i + 48];
    y[i + 48 * int(row)] = a + y[i + 48 * int(row)];
  }
}


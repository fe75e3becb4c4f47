// Contiguous elements that are loaded and stored by one instruction.
template <class T, int count>
struct alignas(sizeof(T) * count) AlignedVector {
  T of[count];
};

// Integers wrap around.
__device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ inline long long plus(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}

// NaN stays NaN, on the left.
template <class T>
__device__ inline T larger(T a, T b) {
  return a != a || a > b ? a : b;
}

template <class T>
__device__ inline T smaller(T a, T b) {
  return a != a || a < b ? a : b;
}

// Reports an index out of range, and continues with 0.
__device__ inline long long checked(long long index, long long below, long long n,
                                    long long* fault) {
  if (index >= 0 && index < below) return index;
  *fault = n;
  return 0;
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

#ifdef __CUDACC__  // others who run this text bring their own
__device__ inline float of_half(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
#endif

// Combines the lower half of the partials with the upper half, until one is left.
template <int lanes, class T, class Combine>
__device__ inline T reduce_in_thread(const T (&all)[lanes], Combine combine) {
  T partials[lanes];
  for (int p = 0; p < lanes; ++p) partials[p] = all[p];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int p = 0; p < half; ++p) partials[p] = combine(partials[p], partials[p + half]);
  return partials[0];
}

// The same with one partial a thread, within a warp; all threads get the result. If a thread has
// several partials, they are neighbours, and are combined last.
template <int lanes, int width, class T, class Combine>
__device__ inline T warp_reduce(T value, unsigned mask, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2)
    value = combine(value, T(__shfl_down_sync(mask, value, half, width)));
  return T(__shfl_sync(mask, value, 0, width));
}
template <int lanes, int width, int count, class T, class Combine>
__device__ inline T warp_reduce(const T (&value)[count], unsigned mask, Combine combine) {
  T partials[count];
  for (int p = 0; p < count; ++p) partials[p] = warp_reduce<lanes, width>(value[p], mask, combine);
  return reduce_in_thread(partials, combine);
}

// By all threads of a block, through shared memory. Each warp combines all partials.
template <int lanes, int count, class T, class Combine>
__device__ inline T block_reduce(const T (&value)[count], T* shared, Combine combine) {
  constexpr int rest = lanes < 32 ? lanes : 32;
  const int thread = threadIdx.x;
  __syncthreads();
  for (int p = 0; p < count; ++p)
    if (thread < lanes) shared[lanes * p + thread] = value[p];
  __syncthreads();
  T partials[count];
  for (int p = 0; p < count; ++p) {
    T far[lanes / rest];
    for (int i = 0; i < lanes / rest; ++i) far[i] = shared[lanes * p + rest * i + thread % rest];
    partials[p] = reduce_in_thread(far, combine);
  }
  return warp_reduce<rest, 32>(partials, 0xffffffffu, combine);
}
template <int lanes, class T, class Combine>
__device__ inline T block_reduce(T value, T* shared, Combine combine) {
  const T one[1] = {value};
  return block_reduce<lanes>(one, shared, combine);
}

// Atomic read-modify-write by compare-and-swap of the word that holds the element.
template <class T, class Combine>
__device__ inline void atomic_combine(T* at, Combine combine) {
  using Word = unsigned;
  const unsigned long long position = reinterpret_cast<unsigned long long>(at);
  Word* const word = reinterpret_cast<Word*>(position & ~3ull);
  const unsigned shift = unsigned(position & 3ull) * 8u;
  const Word bits = sizeof(T) == 4 ? ~0u : ((1u << (8 * sizeof(T) % 32)) - 1u) << shift;
  for (Word old = *word, seen = 0;; old = seen) {
    const T made = combine(T((old & bits) >> shift));
    seen = atomicCAS(word, old, (old & ~bits) | (Word(made) << shift & bits));
    if (seen == old) return;
  }
}
template <class Combine>
__device__ inline void atomic_combine(long long* at, Combine combine) {
  unsigned long long* const word = reinterpret_cast<unsigned long long*>(at);
  for (unsigned long long old = *word, seen = 0;; old = seen) {
    seen = atomicCAS(word, old, (unsigned long long)combine((long long)old));
    if (seen == old) return;
  }
}

// kernel packs
// 8192 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_0_0(
    const float* __restrict__ x,
    const unsigned short* __restrict__ b,
    unsigned short* __restrict__ y,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int i = 4 * item;
  const AlignedVector<float, 4> x_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(x + i);
  const AlignedVector<unsigned short, 4> b_vector = *reinterpret_cast<const AlignedVector<unsigned short, 4>*>(b + int(unsigned(i) % 64));
  AlignedVector<unsigned short, 4> y_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const float a = x_vector.of[lane];
    const float c = of_bfloat16(b_vector.of[lane]);
    const float d = a + c;
    y_vector.of[lane] = bfloat16(d);
  }
  *reinterpret_cast<AlignedVector<unsigned short, 4>*>(y + i) = y_vector;
}

// kernel packs and what is left over
// 1003 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_1_0(
    const unsigned short* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  if (item >= 251) return;
  const int i = 4 * item;
  if (i + 4 <= 1003) {
    const AlignedVector<unsigned short, 4> x_vector = *reinterpret_cast<const AlignedVector<unsigned short, 4>*>(x + i);
    AlignedVector<float, 4> y_vector;
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float a = of_half(x_vector.of[lane]);
      const float b = expf(a);
      y_vector.of[lane] = b;
    }
    *reinterpret_cast<AlignedVector<float, 4>*>(y + i) = y_vector;
  }
  else for (int i_1 = i; i_1 < 1003; ++i_1) {
    const float a = of_half(x[i_1]);
    const float b = expf(a);
    y[i_1] = b;
  }
}

// kernel rows
// 48 items, 8 threads each
extern "C" __global__ void __launch_bounds__(32) kernel_2_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int thread = threadIdx.x % 8;
  const unsigned mask = 0xffu << (threadIdx.x & 24);
  const int r = blockIdx.x * 4 + threadIdx.x / 8;
  float m = thread == 0 ? __int_as_float(0xff800000) : __int_as_float(0xff800000);
  #pragma unroll 12
  for (int turn = 0; turn < 12; ++turn) {
    const int i = thread + 8 * turn;
    const float a = x[100 * r + i];
    m = larger(a, m);
  }
  if (thread < 4) {
    const int i = thread + 96;
    const float a = x[100 * r + i];
    m = larger(a, m);
  }
  const float t = warp_reduce<8, 8>(m, mask, [](float so_far, float next) { return larger(next, so_far); });
  #pragma unroll 3
  for (int turn_1 = 0; turn_1 < 3; ++turn_1) {
    const int item = thread + 8 * turn_1;
    const int j = 4 * item;
    const AlignedVector<float, 4> x_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(x + 100 * r + j);
    AlignedVector<float, 4> y_vector;
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float b = x_vector.of[lane];
      const float c = b - t;
      y_vector.of[lane] = c;
    }
    *reinterpret_cast<AlignedVector<float, 4>*>(y + 100 * r + j) = y_vector;
  }
  if (thread < 1) {
    const int item = thread + 24;
    const int j = 4 * item;
    const AlignedVector<float, 4> x_vector_1 = *reinterpret_cast<const AlignedVector<float, 4>*>(x + 100 * r + j);
    AlignedVector<float, 4> y_vector_1;
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float b = x_vector_1.of[lane];
      const float c = b - t;
      y_vector_1.of[lane] = c;
    }
    *reinterpret_cast<AlignedVector<float, 4>*>(y + 100 * r + j) = y_vector_1;
  }
}

// kernel long rows
// 3 items, 256 threads each
extern "C" __global__ void __launch_bounds__(256) kernel_3_0(
    const double* __restrict__ x,
    double* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int thread = threadIdx.x;
  const int r = blockIdx.x;
  double s = thread == 0 ? 1.0 : (-0.0);
  double p = thread == 0 ? 1.0 : __longlong_as_double(0x7ff0000000000000LL);
  #pragma unroll 11
  for (int turn = 0; turn < 11; ++turn) {
    const int i = thread + 256 * turn;
    const double a = x[3000 * r + i];
    s = a + s;
  }
  if (thread < 184) {
    const int i = thread + 2816;
    const double a = x[3000 * r + i];
    s = a + s;
  }
  if (thread < 32) {
    #pragma unroll 4
    for (int turn_1 = 0; turn_1 < 93; ++turn_1) {
      const int j = thread + 32 * turn_1;
      const double b = x[3000 * r + j];
      p = smaller(b, p);
    }
  }
  if (thread < 24) {
    const int j = thread + 2976;
    const double b = x[3000 * r + j];
    p = smaller(b, p);
  }
  const double t = block_reduce<256>(s, reinterpret_cast<double*>(shared), [](double so_far, double next) { return next + so_far; });
  const double u = block_reduce<32>(p, reinterpret_cast<double*>(shared), [](double so_far, double next) { return smaller(next, so_far); });
  const double v = t * u;
  if (thread == 0) y[r] = v;
}

// kernel turned
// 6144 items, tiles of 32 by 32, transposed in shared memory
extern "C" __global__ void __launch_bounds__(256) kernel_4_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int tile = blockIdx.x;
  const int first_j = 32 * int(unsigned(tile) % 4);
  const int first_i = 32 * int(unsigned(tile) / 4);
  float* const x_tile = reinterpret_cast<float*>(shared);
  #pragma unroll
  for (int line = 0; line < 32; line += 8) {
    const int i = first_i + int(threadIdx.x % 32);
    const int j = first_j + line + int(threadIdx.x / 32);
    if (i < 48) {
      x_tile[(line + threadIdx.x / 32) * 33 + threadIdx.x % 32] = x[i + 48 * j];
    }
  }
  __syncthreads();
  #pragma unroll
  for (int line_1 = 0; line_1 < 32; line_1 += 8) {
    const int j = first_j + int(threadIdx.x % 32);
    const int i = first_i + line_1 + int(threadIdx.x / 32);
    if (i < 48) {
      const float a = x_tile[threadIdx.x % 32 * 33 + line_1 + threadIdx.x / 32];
      y[128 * i + j] = a;
    }
  }
}

// kernel columns
// 20 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_5_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= 20) return;
  float s = 0.0f;
  #pragma unroll 16
  for (int r = 0; r < 100; ++r) {
    const float a = x[j + 20 * r];
    s = a + s;
  }
  const float t = s;
  y[j] = t;
}

// kernel tile
// 8 items, 128 threads each
extern "C" __global__ void __launch_bounds__(128) kernel_6_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  float* const room = reinterpret_cast<float*>(shared);
  const int thread = threadIdx.x;
  const int tile = blockIdx.x;
  #pragma unroll 2
  for (int turn = 0; turn < 2; ++turn) {
    const int item = thread + 128 * turn;
    const int j = int(unsigned(item) % 16);
    const int i = int(unsigned(item) / 16);
    const float a = x[256 * tile + 16 * i + j];
    room[i + 16 * j] = a;
  }
  for (int k = 0; k < 3; ++k) {
    __syncthreads();
    #pragma unroll 2
    for (int turn_1 = 0; turn_1 < 2; ++turn_1) {
      const int l = thread + 128 * turn_1;
      const float b = room[l];
      const float c = b + b;
      room[l] = c;
    }
  }
  __syncthreads();
  #pragma unroll 2
  for (int turn_2 = 0; turn_2 < 2; ++turn_2) {
    const int m = thread + 128 * turn_2;
    const float d = room[-m + 255];
    y[256 * tile + m] = d;
  }
}

// kernel running
// 1 item, 32 threads each
extern "C" __global__ void __launch_bounds__(32) kernel_7_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int thread = threadIdx.x;
  for (int k = 0; k < 9; ++k) {
    __syncwarp(0xffffffffu);
    #pragma unroll 2
    for (int turn = 0; turn < 2; ++turn) {
      const int j = thread + 32 * turn;
      const float a = y[64 * k + j];
      const float b = x[64 * k + j];
      const float c = a + b;
      y[64 * k + j + 64] = c;
    }
  }
}

// kernel counted
// 500 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_8_0(
    const long long* __restrict__ p,
    long long* __restrict__ n,
    unsigned char* __restrict__ small,
    unsigned char* __restrict__ seen,
    long long seed, long long* fault) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= 500) return;
  const long long q = p[i];
  const long long k = checked(q, 4, 1, fault);
  atomicAdd(reinterpret_cast<unsigned long long*>(&n[int(k)]), (unsigned long long)1LL);
  atomic_combine(&small[int(k)], [=](unsigned char old) { return (unsigned char)(plus(1, (int(old)))); });
  atomic_combine(&seen[int(k)], [=](unsigned char old) { return (unsigned char)(true | (old != 0)); });
}


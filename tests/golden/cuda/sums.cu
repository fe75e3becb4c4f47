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

// kernel columns, two sums, whole tiles
// 64 items, sums in order, by 544 threads for 8
extern "C" __global__ void __launch_bounds__(544, 1) kernel_0_0(
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ z,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int column = threadIdx.x % 8;
  const bool adds = threadIdx.x >= 512 && threadIdx.x < 520;
  const int j = blockIdx.x * 8 + column;
  float s = 0.0f;
  float m = __int_as_float(0xff800000);
  float* const summands = reinterpret_cast<float*>(shared);
  float* const summands_1 = reinterpret_cast<float*>(shared + 16384);
  for (int first = 0; first < 2048; first += 256) {
    const int half_at = int(first / 256 % 2) * 2048;
    if (threadIdx.x < 512) {
      #pragma unroll
      for (int turn = 0; turn < 4; ++turn) {
        const int r = first + turn * 64 + int(threadIdx.x) / 8;
        const float a = x[j + 64 * r];
        const float b = w[r];
        const float c = a * b;
        summands[half_at + turn * 512 + threadIdx.x] = c;
        summands_1[half_at + turn * 512 + threadIdx.x] = a;
      }
    }
    __syncthreads();
    if (adds) {
      #pragma unroll 32
      for (int row = 0; row < 256; ++row) {
        s = summands[half_at + row * 8 + column] + s;
        m = larger(summands_1[half_at + row * 8 + column], m);
      }
    }
  }
  if (adds) reinterpret_cast<float*>(shared + 32768)[column] = s;
  if (adds) reinterpret_cast<float*>(shared + 32832)[column] = m;
  __syncthreads();
  s = reinterpret_cast<float*>(shared + 32768)[column];
  m = reinterpret_cast<float*>(shared + 32832)[column];
  const float t = s;
  const float u = m;
  if (adds) y[j] = t;
  if (adds) z[j] = u;
}

// kernel columns that don't fill a tile, rows that don't fill a chunk
// 21 items, sums in order, by 544 threads for 8
extern "C" __global__ void __launch_bounds__(544, 1) kernel_1_0(
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int column = threadIdx.x % 8;
  const bool adds = threadIdx.x >= 512 && threadIdx.x < 520;
  const int position = blockIdx.x * 8 + column;
  const int j = position < 21 ? position : 20;
  float s = 1.0f;
  float* const summands = reinterpret_cast<float*>(shared);
  float* const summands_1 = reinterpret_cast<float*>(shared + 8192);
  float* const summands_2 = reinterpret_cast<float*>(shared + 16384);
  for (int first = 0; first < 997; first += 128) {
    const int half_at = int(first / 128 % 2) * 1024;
    if (threadIdx.x < 512) {
      #pragma unroll
      for (int turn = 0; turn < 2; ++turn) {
        const int position_1 = first + turn * 64 + int(threadIdx.x) / 8;
        const int r = position_1 < 997 ? position_1 : 996;
        const float a = x[j + 21 * r];
        const float b = w[r];
        summands[half_at + turn * 512 + threadIdx.x] = a;
        summands_1[half_at + turn * 512 + threadIdx.x] = b;
        summands_2[half_at + turn * 512 + threadIdx.x] = b;
      }
    }
    __syncthreads();
    if (adds) {
      #pragma unroll 32
      for (int row = 0; row < 128 && row < 997 - first; ++row) {
        s = __fmaf_rn(summands[half_at + row * 8 + column], summands_1[half_at + row * 8 + column], s);
        s = summands_2[half_at + row * 8 + column] + s;
      }
    }
  }
  if (adds) reinterpret_cast<float*>(shared + 24576)[column] = s;
  __syncthreads();
  s = reinterpret_cast<float*>(shared + 24576)[column];
  const float t = s;
  if (adds && position < 21) y[j] = t + y[j];
}

// kernel rows that are neighbours, two loops
// 5 items, sums in order, by 544 threads for 1
extern "C" __global__ void __launch_bounds__(544, 1) kernel_2_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const bool adds = threadIdx.x >= 512 && threadIdx.x < 513;
  const int c = blockIdx.x;
  float s = 0.0f;
  float* const summands = reinterpret_cast<float*>(shared);
  for (int first = 0; first < 1800; first += 512) {
    const int half_at = int(first / 512 % 2) * 512;
    if (threadIdx.x < 512) {
      #pragma unroll
      for (int turn = 0; turn < 1; ++turn) {
        const int position = first + turn * 512 + int(threadIdx.x);
        const int item = position < 1800 ? position : 1799;
        const int i = int(unsigned(item) % 600);
        const int n = int(unsigned(item) / 600);
        const float a = x[600 * c + 3000 * n + i];
        summands[half_at + turn * 512 + threadIdx.x] = a;
      }
    }
    __syncthreads();
    if (adds) {
      #pragma unroll 32
      for (int row = 0; row < 512 && row < 1800 - first; ++row) {
        s = summands[half_at + row] + s;
      }
    }
  }
  if (adds) reinterpret_cast<float*>(shared + 4096)[0] = s;
  __syncthreads();
  s = reinterpret_cast<float*>(shared + 4096)[0];
  const float t = s;
  if (adds) y[c] = t;
}

// kernel a sum that goes on from another, of integers and places that may be missing
// 10 items, sums in order, by 544 threads for 8
extern "C" __global__ void __launch_bounds__(544, 1) kernel_3_0(
    const short* __restrict__ x,
    const unsigned char* __restrict__ p,
    const double* __restrict__ w,
    long long* __restrict__ y,
    double* __restrict__ z,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int column = threadIdx.x % 8;
  const bool adds = threadIdx.x >= 512 && threadIdx.x < 520;
  const int position = blockIdx.x * 8 + column;
  const int j = position < 10 ? position : 9;
  long long s = 0LL;
  long long f = 0LL;
  long long* const summands = reinterpret_cast<long long*>(shared);
  long long* const summands_1 = reinterpret_cast<long long*>(shared + 16384);
  for (int first = 0; first < 300; first += 128) {
    const int half_at = int(first / 128 % 2) * 1024;
    if (threadIdx.x < 512) {
      #pragma unroll
      for (int turn = 0; turn < 2; ++turn) {
        const int position_1 = first + turn * 64 + int(threadIdx.x) / 8;
        const int r = position_1 < 300 ? position_1 : 299;
        const bool q = p[j + 10 * r] != 0;
        const int a = q ? int(x[j + 10 * r]) : 0;
        const long long b = (long long)a;
        summands[half_at + turn * 512 + threadIdx.x] = b;
        summands_1[half_at + turn * 512 + threadIdx.x] = b;
      }
    }
    __syncthreads();
    if (adds) {
      #pragma unroll 32
      for (int row = 0; row < 128 && row < 300 - first; ++row) {
        s = plus(summands[half_at + row * 8 + column], s);
        f = larger(summands_1[half_at + row * 8 + column], f);
      }
    }
  }
  if (adds) reinterpret_cast<long long*>(shared + 32768)[column] = s;
  if (adds) reinterpret_cast<long long*>(shared + 32832)[column] = f;
  __syncthreads();
  s = reinterpret_cast<long long*>(shared + 32768)[column];
  f = reinterpret_cast<long long*>(shared + 32832)[column];
  const long long t = s;
  const long long u = f;
  const long long v = plus(t, u);
  if (adds && position < 10) y[j] = v;
  const double g = double(t);
  double h = 0.0;
  double* const summands_2 = reinterpret_cast<double*>(shared);
  double* const summands_3 = reinterpret_cast<double*>(shared + 16384);
  for (int first_1 = 0; first_1 < 300; first_1 += 128) {
    const int half_at_1 = int(first_1 / 128 % 2) * 1024;
    if (threadIdx.x < 512) {
      #pragma unroll
      for (int turn_1 = 0; turn_1 < 2; ++turn_1) {
        const int position_2 = first_1 + turn_1 * 64 + int(threadIdx.x) / 8;
        const int k = position_2 < 300 ? position_2 : 299;
        const double c = w[k];
        const int d = int(x[j + 10 * k]);
        const double e = double(d);
        const double i = e - g;
        summands_2[half_at_1 + turn_1 * 512 + threadIdx.x] = i;
        summands_3[half_at_1 + turn_1 * 512 + threadIdx.x] = c;
      }
    }
    __syncthreads();
    if (adds) {
      #pragma unroll 32
      for (int row_1 = 0; row_1 < 128 && row_1 < 300 - first_1; ++row_1) {
        h = __fma_rn(summands_2[half_at_1 + row_1 * 8 + column], summands_3[half_at_1 + row_1 * 8 + column], h);
      }
    }
  }
  if (adds) reinterpret_cast<double*>(shared + 32768)[column] = h;
  __syncthreads();
  h = reinterpret_cast<double*>(shared + 32768)[column];
  const double l = h;
  if (adds && position < 10) z[j] = l;
}


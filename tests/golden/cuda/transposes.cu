__device__ inline float of_bfloat16(unsigned short bits) {
  return __int_as_float(int(unsigned(bits) << 16));
}

// kernel whole squares
// 6144 items, tiles of 32 by 32, transposed in shared memory
extern "C" __global__ void __launch_bounds__(256) kernel_0_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int tile = blockIdx.x;
  const int first_c = 32 * int(unsigned(tile) % 3);
  const int first_r = 32 * int(unsigned(tile) / 3);
  float* const x_tile = reinterpret_cast<float*>(shared);
  #pragma unroll
  for (int line = 0; line < 32; line += 8) {
    const int r = first_r + int(threadIdx.x % 32);
    const int c = first_c + line + int(threadIdx.x / 32);
    {
      x_tile[(line + threadIdx.x / 32) * 33 + threadIdx.x % 32] = x[r + 64 * c];
    }
  }
  __syncthreads();
  #pragma unroll
  for (int line_1 = 0; line_1 < 32; line_1 += 8) {
    const int c = first_c + int(threadIdx.x % 32);
    const int r = first_r + line_1 + int(threadIdx.x / 32);
    {
      const float a = x_tile[threadIdx.x % 32 * 33 + line_1 + threadIdx.x / 32];
      y[96 * r + c] = a;
    }
  }
}

// kernel edges, bf16, and what isn't turned
// 4059 items, tiles of 32 by 32, transposed in shared memory
extern "C" __global__ void __launch_bounds__(256) kernel_1_0(
    const unsigned short* __restrict__ x,
    const float* __restrict__ z,
    const float* __restrict__ b,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int tile = blockIdx.x;
  const int first_c = 32 * int(unsigned(tile) % 2);
  const int first_r = 32 * int(unsigned(tile) / 2);
  unsigned short* const x_tile = reinterpret_cast<unsigned short*>(shared);
  #pragma unroll
  for (int line = 0; line < 32; line += 8) {
    const int r = first_r + int(threadIdx.x % 32);
    const int c = first_c + line + int(threadIdx.x / 32);
    if (r < 99 && c < 41) {
      x_tile[(line + threadIdx.x / 32) * 33 + threadIdx.x % 32] = x[r + 180 * c];
    }
  }
  __syncthreads();
  #pragma unroll
  for (int line_1 = 0; line_1 < 32; line_1 += 8) {
    const int c = first_c + int(threadIdx.x % 32);
    const int r = first_r + line_1 + int(threadIdx.x / 32);
    if (r < 99 && c < 41) {
      const float s = z[41 * r];
      const float a = of_bfloat16(x_tile[threadIdx.x % 32 * 33 + line_1 + threadIdx.x / 32]);
      const float d = z[41 * r + c];
      const float e = b[c];
      const float f = d + e;
      const float g = f * a;
      const float h = g + s;
      y[41 * r + c] = h;
    }
  }
}

// kernel between other loops, two of them
// 10240 items, tiles of 32 by 32, transposed in shared memory
extern "C" __global__ void __launch_bounds__(256) kernel_2_0(
    const long long* __restrict__ x,
    const float* __restrict__ z,
    float* __restrict__ y,
    long long seed, long long* fault) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int tile = blockIdx.x;
  const int first_n = 32 * int(unsigned(tile) % 1);
  const int m = int(unsigned(tile) % 2);
  const int first_k = 32 * int(unsigned(tile) / 2 % 2);
  const int b = int(unsigned(tile) / 4);
  long long* const x_tile = reinterpret_cast<long long*>(shared);
  float* const z_tile = reinterpret_cast<float*>(shared + 8448);
  #pragma unroll
  for (int line = 0; line < 32; line += 8) {
    const int k = first_k + int(threadIdx.x % 32);
    const int n = first_n + line + int(threadIdx.x / 32);
    if (k < 40) {
      x_tile[(line + threadIdx.x / 32) * 33 + threadIdx.x % 32] = x[2560 * b + k + 40 * m + 80 * n];
      z_tile[(line + threadIdx.x / 32) * 33 + threadIdx.x % 32] = z[2560 * b + k + 1280 * m + 40 * n];
    }
  }
  __syncthreads();
  #pragma unroll
  for (int line_1 = 0; line_1 < 32; line_1 += 8) {
    const int n = first_n + int(threadIdx.x % 32);
    const int k = first_k + line_1 + int(threadIdx.x / 32);
    if (k < 40) {
      const long long a = x_tile[threadIdx.x % 32 * 33 + line_1 + threadIdx.x / 32];
      const float c = z_tile[threadIdx.x % 32 * 33 + line_1 + threadIdx.x / 32];
      const float d = float(a);
      const float e = c + d;
      y[2560 * b + 64 * k + 32 * m + n] = e;
    }
  }
}

// kernel too short for squares
// 960 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_3_0(
    const float* __restrict__ x,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int c = int(unsigned(item) % 120);
  const int r = int(unsigned(item) / 120);
  const float a = x[r + 8 * c];
  y[120 * r + c] = a;
}


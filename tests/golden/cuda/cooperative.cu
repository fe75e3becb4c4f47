// Combines the lower half of the partials with the upper half, until one is left.
template <int lanes, class T, class Combine>
__device__ inline T reduce_in_thread(const T (&all)[lanes], Combine combine) {
  T partials[lanes];
  for (int p = 0; p < lanes; ++p) partials[p] = all[p];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int p = 0; p < half; ++p) partials[p] = combine(partials[p], partials[p + half]);
  return partials[0];
}

// A block's view of its cooperative group: the arrival counter of all barriers so far, and which
// half of the workspace is used next.
struct CooperativeGroup {
  unsigned* arrived;
  int half;
};

#ifdef __CUDACC__
// A barrier of all threads of a cooperative group, with visibility of their stores. Each barrier
// adds the number of blocks to the counter.
__device__ inline void cooperative_sync(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned before = atomicAdd(arrived, 1u), all = before - before % blocks + blocks;
    while (int(*(const volatile unsigned*)arrived - all) < 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
#endif

// Reduces interleaved partials in shared memory, the lower half with the upper half; the result is
// first.
template <int lanes, int interleaved, class T, class Combine>
__device__ inline void reduce_in_shared(T* shared, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half * interleaved)
      shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half * interleaved]);
  }
  __syncthreads();
}
// Reduces interleaved partials over a cooperative group: within each block, then across blocks
// through global memory, which is double buffered, since others may still read one half.
__device__ double cooperative_workspace[2 * 128 * 32];
template <int blocks, int lanes, int interleaved, class T, class Combine>
__device__ inline T cooperative_reduce(T value, T* shared, CooperativeGroup& cooperative,
                                       Combine combine) {
  constexpr int together = blocks < lanes ? blocks : lanes, far = blocks / together;
  const int lane = threadIdx.x / interleaved, neighbour = threadIdx.x % interleaved;
  double* const all = cooperative_workspace +
                      (cooperative.half * gridDim.x + blockIdx.x / blocks * blocks) * interleaved;
  cooperative.half ^= 1;
  __syncthreads();
  shared[threadIdx.x] = value;
  reduce_in_shared<lanes, interleaved>(shared, combine);
  if (lane == 0)
    *(volatile T*)(all + blockIdx.x % blocks * interleaved + neighbour) = shared[neighbour];
  cooperative_sync(cooperative.arrived, blocks);
  if (lane < together) {
    T parts[far];
    for (int i = 0; i < far; ++i)
      parts[i] = *(const volatile T*)(all + (lane + together * i) * interleaved + neighbour);
    shared[threadIdx.x] = reduce_in_thread(parts, combine);
  }
  reduce_in_shared<together, interleaved>(shared, combine);
  return shared[neighbour];
}

// kernel statistics of eight columns
// 8 items, 2048 threads each, 8 side by side in a cooperative group of 16 blocks
__device__ unsigned kernel_0_0_arrived[1];
extern "C" __global__ void __launch_bounds__(1024) kernel_0_0(
    const float* __restrict__ x,
    float* __restrict__ m,
    float* __restrict__ v,
    long long seed, long long* fault) {
  CooperativeGroup cooperative = {kernel_0_0_arrived + blockIdx.x / 16, 0};
  extern __shared__ __align__(16) unsigned char shared[];
  const int thread = threadIdx.x / 8 * 16 + blockIdx.x % 16;
  const int items = int(blockIdx.x / 16) * 8;
  const int j = items + int(threadIdx.x % 8);
  float s = thread == 0 ? 0.0f : (-0.0f);
  #pragma unroll 8
  for (int turn = 0; turn < 8; ++turn) {
    const int r = thread + 2048 * turn;
    const float a = x[j + 8 * r];
    s = a + s;
  }
  const float t = cooperative_reduce<16, 128, 8>(s, reinterpret_cast<float*>(shared), cooperative, [](float so_far, float next) { return next + so_far; });
  const float mean = t / 16384.0f;
  if (thread == 0) m[j] = mean;
  float q = thread == 0 ? 0.0f : (-0.0f);
  #pragma unroll 8
  for (int turn_1 = 0; turn_1 < 8; ++turn_1) {
    const int k = thread + 2048 * turn_1;
    const float b = x[j + 8 * k];
    const float d = b - mean;
    const float e = d * d;
    q = e + q;
  }
  const float u = cooperative_reduce<16, 128, 8>(q, reinterpret_cast<float*>(shared), cooperative, [](float so_far, float next) { return next + so_far; });
  const float var = u / 16384.0f;
  if (thread == 0) v[j] = var;
}


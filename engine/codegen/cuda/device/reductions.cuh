// Reductions over the threads of a warp, a block, a cluster or a cooperative group. All combine by
// halves, so that they have the same order.
#pragma once

//: helper reduce_in_thread
// Combines the lower half of the partials with the upper half, until one is left.
template <int lanes, class T, class Combine>
__device__ inline T reduce_in_thread(const T (&all)[lanes], Combine combine) {
  T partials[lanes];
  for (int p = 0; p < lanes; ++p) partials[p] = all[p];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int p = 0; p < half; ++p) partials[p] = combine(partials[p], partials[p + half]);
  return partials[0];
}

//: helper warp_reduce uses reduce_in_thread
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

//: helper block_reduce uses warp_reduce
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

//: helper cluster_sync
#ifdef __CUDACC__
// A barrier of all threads of a cluster, with visibility of their stores.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
// The address in another block's shared memory (distributed shared memory).
template <class T>
__device__ inline const T* shared_of_block(int block, const T* here) {
  unsigned long long there;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(there)
      : "l"(reinterpret_cast<unsigned long long>(here)), "r"(block));
  return reinterpret_cast<const T*>(there);
}
#endif

//: helper cluster_reduce uses block_reduce cluster_sync
// By all threads of a cluster: first across blocks, then within a block.
template <int blocks, int threads, int count, class T, class Combine>
__device__ inline T cluster_reduce(const T (&value)[count], T* shared, Combine combine) {
  __syncthreads();
  for (int p = 0; p < count; ++p) shared[threads * p + int(threadIdx.x)] = value[p];
  cluster_sync();
  T partials[count];
  for (int p = 0; p < count; ++p) {
    T far[blocks];
    for (int b = 0; b < blocks; ++b)
      far[b] = *shared_of_block(b, shared + threads * p + threadIdx.x);
    partials[p] = reduce_in_thread(far, combine);
  }
  cluster_sync();
  return block_reduce<threads>(partials, shared, combine);
}
template <int blocks, int threads, class T, class Combine>
__device__ inline T cluster_reduce(T value, T* shared, Combine combine) {
  const T one[1] = {value};
  return cluster_reduce<blocks, threads>(one, shared, combine);
}

//: helper interleaved_reduce uses reduce_in_thread cluster_sync
// By all threads of a cluster or block, with interleaved items: neighbours have different results.
template <int blocks, int lanes, int interleaved, class T, class Combine>
__device__ inline T interleaved_reduce(T value, T* shared, Combine combine) {
  __syncthreads();
  shared[threadIdx.x] = value;
  if constexpr (blocks > 1) {
    cluster_sync();
    T far[blocks];
    for (int b = 0; b < blocks; ++b) far[b] = *shared_of_block(b, shared + threadIdx.x);
    cluster_sync();
    shared[threadIdx.x] = reduce_in_thread(far, combine);
  }
  __syncthreads();
  T near[lanes];
  for (int i = 0; i < lanes; ++i)
    near[i] = shared[interleaved * i + int(threadIdx.x) % interleaved];
  return reduce_in_thread(near, combine);
}

//: helper CooperativeGroup
// A block's view of its cooperative group: the arrival counter of all barriers so far, and which
// half of the workspace is used next.
struct CooperativeGroup {
  unsigned* arrived;
  int half;
};

//: helper cooperative_sync
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

//: helper cooperative_reduce uses reduce_in_thread CooperativeGroup cooperative_sync
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

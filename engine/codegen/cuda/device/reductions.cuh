// Reductions over the threads of a warp, a block, a cluster or a cooperative group. All combine by
// halves, so that they have the same order.
#pragma once

//: helper combined_here
// Combines the lower half of the partials with the upper half, until one is left.
template <int lanes, class T, class Combine>
__device__ inline T combined_here(const T (&all)[lanes], Combine combine) {
  T partials[lanes];
  for (int p = 0; p < lanes; ++p) partials[p] = all[p];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int p = 0; p < half; ++p) partials[p] = combine(partials[p], partials[p + half]);
  return partials[0];
}

//: helper combined_in_warp uses combined_here
// The same with one partial a thread, within a warp; all threads get the result. If a thread has
// several partials, they are neighbours, and are combined last.
template <int lanes, int width, class T, class Combine>
__device__ inline T combined_in_warp(T mine, unsigned mask, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2)
    mine = combine(mine, T(__shfl_down_sync(mask, mine, half, width)));
  return T(__shfl_sync(mask, mine, 0, width));
}
template <int lanes, int width, int count, class T, class Combine>
__device__ inline T combined_in_warp(const T (&mine)[count], unsigned mask, Combine combine) {
  T partials[count];
  for (int p = 0; p < count; ++p)
    partials[p] = combined_in_warp<lanes, width>(mine[p], mask, combine);
  return combined_here(partials, combine);
}

//: helper combined_in_block uses combined_in_warp
// By all threads of a block, through shared memory. Each warp combines all partials.
template <int lanes, int count, class T, class Combine>
__device__ inline T combined_in_block(const T (&mine)[count], T* room, Combine combine) {
  constexpr int rest = lanes < 32 ? lanes : 32;
  const int thread = threadIdx.x;
  __syncthreads();
  for (int p = 0; p < count; ++p)
    if (thread < lanes) room[lanes * p + thread] = mine[p];
  __syncthreads();
  T partials[count];
  for (int p = 0; p < count; ++p) {
    T far[lanes / rest];
    for (int i = 0; i < lanes / rest; ++i) far[i] = room[lanes * p + rest * i + thread % rest];
    partials[p] = combined_here(far, combine);
  }
  return combined_in_warp<rest, 32>(partials, 0xffffffffu, combine);
}
template <int lanes, class T, class Combine>
__device__ inline T combined_in_block(T mine, T* room, Combine combine) {
  const T one[1] = {mine};
  return combined_in_block<lanes>(one, room, combine);
}

//: helper cluster_wait
#ifdef __CUDACC__
// A barrier of all threads of a cluster, with visibility of their stores.
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
// The address in another block's shared memory (distributed shared memory).
template <class T>
__device__ inline const T* in_block(int block, const T* here) {
  unsigned long long there;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(there)
      : "l"(reinterpret_cast<unsigned long long>(here)), "r"(block));
  return reinterpret_cast<const T*>(there);
}
#endif

//: helper combined_in_cluster uses combined_in_block cluster_wait
// By all threads of a cluster: first across blocks, then within a block.
template <int blocks, int threads, int count, class T, class Combine>
__device__ inline T combined_in_cluster(const T (&mine)[count], T* room, Combine combine) {
  __syncthreads();
  for (int p = 0; p < count; ++p) room[threads * p + int(threadIdx.x)] = mine[p];
  cluster_wait();
  T partials[count];
  for (int p = 0; p < count; ++p) {
    T far[blocks];
    for (int b = 0; b < blocks; ++b) far[b] = *in_block(b, room + threads * p + threadIdx.x);
    partials[p] = combined_here(far, combine);
  }
  cluster_wait();
  return combined_in_block<threads>(partials, room, combine);
}
template <int blocks, int threads, class T, class Combine>
__device__ inline T combined_in_cluster(T mine, T* room, Combine combine) {
  const T one[1] = {mine};
  return combined_in_cluster<blocks, threads>(one, room, combine);
}

//: helper combined_abreast uses combined_here cluster_wait
// By all threads of a cluster or block, with interleaved items: neighbours have different results.
template <int blocks, int lanes, int abreast, class T, class Combine>
__device__ inline T combined_abreast(T mine, T* room, Combine combine) {
  __syncthreads();
  room[threadIdx.x] = mine;
  if constexpr (blocks > 1) {
    cluster_wait();
    T far[blocks];
    for (int b = 0; b < blocks; ++b) far[b] = *in_block(b, room + threadIdx.x);
    cluster_wait();
    room[threadIdx.x] = combined_here(far, combine);
  }
  __syncthreads();
  T near[lanes];
  for (int i = 0; i < lanes; ++i) near[i] = room[abreast * i + int(threadIdx.x) % abreast];
  return combined_here(near, combine);
}

//: helper Team
// A block's view of its cooperative group: the arrival counter of all barriers so far, and which
// half of the workspace is used next.
struct Team {
  unsigned* arrived;
  int half;
};

//: helper team_wait
#ifdef __CUDACC__
// A barrier of all threads of a cooperative group, with visibility of their stores. Each barrier
// adds the number of blocks to the counter.
__device__ inline void team_wait(unsigned* arrived, unsigned blocks) {
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

//: helper combined_in_team uses combined_here Team team_wait
// Reduces interleaved partials in shared memory, the lower half with the upper half; the result is
// first.
template <int lanes, int abreast, class T, class Combine>
__device__ inline void combine_in_room(T* room, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half * abreast)
      room[threadIdx.x] = combine(room[threadIdx.x], room[threadIdx.x + half * abreast]);
  }
  __syncthreads();
}
// Reduces interleaved partials over a cooperative group: within each block, then across blocks
// through global memory, which is double buffered, since others may still read one half.
__device__ double team_room[2 * 128 * 32];
template <int blocks, int lanes, int abreast, class T, class Combine>
__device__ inline T combined_in_team(T mine, T* room, Team& team, Combine combine) {
  constexpr int together = blocks < lanes ? blocks : lanes, far = blocks / together;
  const int lane = threadIdx.x / abreast, neighbour = threadIdx.x % abreast;
  double* const all =
      team_room + (team.half * gridDim.x + blockIdx.x / blocks * blocks) * abreast;
  team.half ^= 1;
  __syncthreads();
  room[threadIdx.x] = mine;
  combine_in_room<lanes, abreast>(room, combine);
  if (lane == 0)
    *(volatile T*)(all + blockIdx.x % blocks * abreast + neighbour) = room[neighbour];
  team_wait(team.arrived, blocks);
  if (lane < together) {
    T parts[far];
    for (int i = 0; i < far; ++i)
      parts[i] = *(const volatile T*)(all + (lane + together * i) * abreast + neighbour);
    room[threadIdx.x] = combined_here(parts, combine);
  }
  combine_in_room<together, abreast>(room, combine);
  return room[neighbour];
}

// Contiguous elements that are loaded and stored by one instruction.
template <class T, int count>
struct alignas(sizeof(T) * count) AlignedVector {
  T of[count];
};

// NaN stays NaN, on the left.
template <class T>
__device__ inline T larger(T a, T b) {
  return a != a || a > b ? a : b;
}

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

// kernel weights
// %weights = _softmax
// kernel 3 of 11, launch 5
// 64 items, 8 threads each
extern "C" __global__ void __launch_bounds__(32) kernel_0_0(
    const float* __restrict__ scaled,
    float* __restrict__ weights,
    long long seed, long long* fault) {
  const int thread = threadIdx.x % 8;
  const unsigned mask = 0xffu << (threadIdx.x & 24);
  const int i = blockIdx.x * 4 + threadIdx.x / 8;
  float largest[4] = {thread == 0 ? __int_as_float(0xff800000) : __int_as_float(0xff800000), __int_as_float(0xff800000), __int_as_float(0xff800000), __int_as_float(0xff800000)};
  #pragma unroll 2
  for (int turn = 0; turn < 2; ++turn) {
    const int item = thread + 8 * turn;
    const int j = 4 * item;
    const AlignedVector<float, 4> scaled_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(scaled + 64 * i + j);
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float v2 = scaled_vector.of[lane];
      largest[lane] = larger(v2, largest[lane]);
    }
  }
  const float v3 = warp_reduce<8, 8>(largest, mask, [](float so_far, float next) { return larger(next, so_far); });
  float total[4] = {thread == 0 ? 0.0f : (-0.0f), (-0.0f), (-0.0f), (-0.0f)};
  #pragma unroll 2
  for (int turn_1 = 0; turn_1 < 2; ++turn_1) {
    const int item_1 = thread + 8 * turn_1;
    const int j_1 = 4 * item_1;
    const AlignedVector<float, 4> scaled_vector_1 = *reinterpret_cast<const AlignedVector<float, 4>*>(scaled + 64 * i + j_1);
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float v4 = scaled_vector_1.of[lane];
      const float v5 = v4 - v3;
      const float v6 = expf(v5);
      total[lane] = v6 + total[lane];
    }
  }
  const float v7 = warp_reduce<8, 8>(total, mask, [](float so_far, float next) { return next + so_far; });
  #pragma unroll 2
  for (int turn_2 = 0; turn_2 < 2; ++turn_2) {
    const int item_2 = thread + 8 * turn_2;
    const int j_2 = 4 * item_2;
    const AlignedVector<float, 4> scaled_vector_2 = *reinterpret_cast<const AlignedVector<float, 4>*>(scaled + 64 * i + j_2);
    AlignedVector<float, 4> weights_vector;
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float v8 = scaled_vector_2.of[lane];
      const float v9 = v8 - v3;
      const float v10 = expf(v9);
      const float v11 = v10 / v7;
      weights_vector.of[lane] = v11;
    }
    *reinterpret_cast<AlignedVector<float, 4>*>(weights + 64 * i + j_2) = weights_vector;
  }
}


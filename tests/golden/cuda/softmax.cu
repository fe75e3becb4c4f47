// NaN stays NaN, on the left.
template <class T>
__device__ inline T larger(T a, T b) {
  return a != a || a > b ? a : b;
}

// The same of a partial a thread, by threads of a warp, all of which get the result.
template <int lanes, int width, class T, class Combine>
__device__ inline T combined_in_warp(T mine, unsigned mask, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2)
    mine = combine(mine, T(__shfl_down_sync(mask, mine, half, width)));
  return T(__shfl_sync(mask, mine, 0, width));
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
  float largest = thread == 0 ? __int_as_float(0xff800000) : __int_as_float(0xff800000);
  for (int j = thread; j < 64; j += 8) {
    const float v2 = scaled[64 * i + j];
    largest = larger(v2, largest);
  }
  const float v3 = combined_in_warp<8, 8>(largest, mask, [](float so_far, float next) { return larger(next, so_far); });
  float total = thread == 0 ? 0.0f : (-0.0f);
  for (int j_1 = thread; j_1 < 64; j_1 += 8) {
    const float v4 = scaled[64 * i + j_1];
    const float v5 = v4 - v3;
    const float v6 = expf(v5);
    total = v6 + total;
  }
  const float v7 = combined_in_warp<8, 8>(total, mask, [](float so_far, float next) { return next + so_far; });
  for (int j_2 = thread; j_2 < 64; j_2 += 8) {
    const float v8 = scaled[64 * i + j_2];
    const float v9 = v8 - v3;
    const float v10 = expf(v9);
    const float v11 = v10 / v7;
    weights[64 * i + j_2] = v11;
  }
}


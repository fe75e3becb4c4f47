// The kernels that measure a GPU's ceilings, for NVRTC. Each writes the result of its multiply-adds
// if it equals a number that it never has, so that no compiler removes them.

extern "C" __global__ void __launch_bounds__(256)
    triad(float4* __restrict__ a, const float4* __restrict__ b, const float4* __restrict__ c,
          long long count) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= count) return;
  const float4 x = b[i], y = c[i];
  a[i] = make_float4(__fmaf_rn(0.5f, y.x, x.x), __fmaf_rn(0.5f, y.y, x.y),
                     __fmaf_rn(0.5f, y.z, x.z), __fmaf_rn(0.5f, y.w, x.w));
}

extern "C" __global__ void __launch_bounds__(256) multiply_adds_f32(float* out, long long rounds) {
  float chain[16];
  for (int k = 0; k < 16; ++k) chain[k] = threadIdx.x + k;
  for (long long r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 16; ++k) chain[k] = __fmaf_rn(chain[k], 0.999f, 0.5f);
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += chain[k];
  if (sum == -1.0f) out[0] = sum;
}

extern "C" __global__ void __launch_bounds__(256) multiply_adds_f64(double* out, long long rounds) {
  double chain[16];
  for (int k = 0; k < 16; ++k) chain[k] = threadIdx.x + k;
  for (long long r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 16; ++k) chain[k] = __fma_rn(chain[k], 0.999, 0.5);
  double sum = 0;
  for (int k = 0; k < 16; ++k) sum += chain[k];
  if (sum == -1.0) out[0] = sum;
}

extern "C" __global__ void nothing() {}

// 10 launches of 10 kernels, an arena of 3792 bytes, program fcabe4ae0838f15e
// launch 0: kernel 0 (%x, %w1, %b1, @1024) makes %hidden
// launch 1: kernel 1 (@1024, @0) makes %active
// launch 2: kernel 2 (@0, %w2, %b2, @1280) makes %y
// launch 3: kernel 3 (@1280, %target, @1024, @1152) makes %error, %square
// launch 4: kernel 4 (@1152, @3712) makes %loss
// launch 5: kernel 5 (@1024, %loss_grad, @2048, @3776) makes %scale, %y_grad, %b2_grad
// launch 6: kernel 6 (@0, @2048, @3072) makes %w2_grad
// launch 7: kernel 7 (@2048, %w2, @1024) makes %active_grad
// launch 8: kernel 8 (@1024, @0, @2048, @3584) makes %hidden_grad, %b1_grad
// launch 9: kernel 9 (%x, @2048, @0) makes %w1_grad
// result %loss: @3712
// gradient %w1_grad: @0
// gradient %b1_grad: @3584
// gradient %w2_grad: @3072
// gradient %b2_grad: @3776
// gradient none
// gradient none

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

// kernel hidden
// %hidden = addmm
// kernel 0 of 10, launch 0
// 256 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_0_0(
    const float* __restrict__ x,
    const float* __restrict__ w1,
    const float* __restrict__ b1,
    float* __restrict__ hidden,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int j = int(unsigned(item) % 32);
  const int i = int(unsigned(item) / 32);
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    const float v1 = x[16 * i + k];
    const float v2 = w1[j + 32 * k];
    const float v3 = v1 * v2;
    sum = v3 + sum;
  }
  const float v4 = sum;
  const float v5 = b1[j];
  const float v6 = v5 + v4;
  hidden[32 * i + j] = v6;
}

// kernel active
// %active = relu
// kernel 1 of 10, launch 1
// 256 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_1_0(
    const float* __restrict__ hidden,
    float* __restrict__ active,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int i = 4 * item;
  const AlignedVector<float, 4> hidden_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(hidden + i);
  AlignedVector<float, 4> active_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const float v1 = hidden_vector.of[lane];
    const float active_1 = larger(v1, 0.0f);
    active_vector.of[lane] = active_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(active + i) = active_vector;
}

// kernel y
// %y = addmm
// kernel 2 of 10, launch 2
// 32 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_2_0(
    const float* __restrict__ active,
    const float* __restrict__ w2,
    const float* __restrict__ b2,
    float* __restrict__ y,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int j = int(unsigned(item) % 4);
  const int i = int(unsigned(item) / 4);
  float sum = 0.0f;
  for (int k = 0; k < 32; ++k) {
    const float v1 = active[32 * i + k];
    const float v2 = w2[j + 4 * k];
    const float v3 = v1 * v2;
    sum = v3 + sum;
  }
  const float v4 = sum;
  const float v5 = b2[j];
  const float v6 = v5 + v4;
  y[4 * i + j] = v6;
}

// kernel error, square
// %error = sub.Tensor
// %square = pow.Tensor_Scalar
// kernel 3 of 10, launch 3
// 32 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_3_0(
    const float* __restrict__ y,
    const float* __restrict__ target,
    float* __restrict__ error,
    float* __restrict__ square,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  if (item >= 8) return;
  const int i = 4 * item;
  const AlignedVector<float, 4> y_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(y + i);
  const AlignedVector<float, 4> target_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(target + i);
  AlignedVector<float, 4> error_vector;
  AlignedVector<float, 4> square_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const float v0 = y_vector.of[lane];
    const float v1 = target_vector.of[lane];
    const float error_1 = v0 - v1;
    error_vector.of[lane] = error_1;
    const float square_1 = error_1 * error_1;
    square_vector.of[lane] = square_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(error + i) = error_vector;
  *reinterpret_cast<AlignedVector<float, 4>*>(square + i) = square_vector;
}

// kernel loss
// %loss = mean
// kernel 4 of 10, launch 4
// 1 item, 32 threads each
extern "C" __global__ void __launch_bounds__(32) kernel_4_0(
    const float* __restrict__ square,
    float* __restrict__ loss,
    long long seed, long long* fault) {
  const int thread = threadIdx.x;
  float total = thread == 0 ? 0.0f : (-0.0f);
  if (thread < 8) {
    #pragma unroll 4
    for (int turn = 0; turn < 4; ++turn) {
      const int i = thread + 8 * turn;
      const float v1 = square[i];
      total = v1 + total;
    }
  }
  const float v2 = warp_reduce<8, 32>(total, 0xffffffffu, [](float so_far, float next) { return next + so_far; });
  const float v4 = v2 / 32.0f;
  if (thread == 0) loss[0] = v4;
}

// kernel scale, y_grad, b2_grad
// %scale = mul.Tensor
// %y_grad = mul.Tensor
// %b2_grad = sum.dim_IntList
// kernel 5 of 10, launch 5
// 32 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_5_0(
    const float* __restrict__ error,
    const float* __restrict__ loss_grad,
    float* __restrict__ y_grad,
    float* __restrict__ b2_grad,
    long long seed, long long* fault) {
  const float v0 = loss_grad[0];
  const float scale = v0 * 0.0625f;
  const int item = blockIdx.x * 32 + threadIdx.x;
  if (item >= 8) return;
  const int i = 4 * item;
  const AlignedVector<float, 4> error_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(error + i);
  AlignedVector<float, 4> y_grad_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const float v2 = error_vector.of[lane];
    const float y_grad_1 = v2 * scale;
    y_grad_vector.of[lane] = y_grad_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(y_grad + i) = y_grad_vector;
}

// 4 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_5_1(
    const float* __restrict__ error,
    const float* __restrict__ loss_grad,
    float* __restrict__ y_grad,
    float* __restrict__ b2_grad,
    long long seed, long long* fault) {
  const float v0 = loss_grad[0];
  const float scale = v0 * 0.0625f;
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= 4) return;
  float total = 0.0f;
  for (int i_1 = 0; i_1 < 8; ++i_1) {
    const float v4 = error[j + 4 * i_1];
    const float y_grad_2 = v4 * scale;
    total = y_grad_2 + total;
  }
  const float v5 = total;
  b2_grad[j] = v5;
}

// kernel w2_grad
// %w2_grad = mm
// kernel 6 of 10, launch 6
// 128 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_6_0(
    const float* __restrict__ active,
    const float* __restrict__ y_grad,
    float* __restrict__ w2_grad,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int j = int(unsigned(item) % 4);
  const int i = int(unsigned(item) / 4);
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) {
    const float v1 = active[i + 32 * k];
    const float v2 = y_grad[j + 4 * k];
    const float v3 = v1 * v2;
    sum = v3 + sum;
  }
  const float v4 = sum;
  w2_grad[4 * i + j] = v4;
}

// kernel active_grad
// %active_grad = mm
// kernel 7 of 10, launch 7
// 256 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_7_0(
    const float* __restrict__ y_grad,
    const float* __restrict__ w2,
    float* __restrict__ active_grad,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int j = int(unsigned(item) % 32);
  const int i = int(unsigned(item) / 32);
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const float v1 = y_grad[4 * i + k];
    const float v2 = w2[4 * j + k];
    const float v3 = v1 * v2;
    sum = v3 + sum;
  }
  const float v4 = sum;
  active_grad[32 * i + j] = v4;
}

// kernel hidden_grad, b1_grad
// %hidden_grad = threshold_backward
// %b1_grad = sum.dim_IntList
// kernel 8 of 10, launch 8
// 256 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_8_0(
    const float* __restrict__ active_grad,
    const float* __restrict__ active,
    float* __restrict__ hidden_grad,
    float* __restrict__ b1_grad,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int i = 4 * item;
  const AlignedVector<float, 4> active_grad_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(active_grad + i);
  const AlignedVector<float, 4> active_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(active + i);
  AlignedVector<float, 4> hidden_grad_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const float v1 = active_grad_vector.of[lane];
    const float v2 = active_vector.of[lane];
    const bool v3 = v2 <= 0.0f;
    const float hidden_grad_1 = v3 ? 0.0f : v1;
    hidden_grad_vector.of[lane] = hidden_grad_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(hidden_grad + i) = hidden_grad_vector;
}

// 32 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_8_1(
    const float* __restrict__ active_grad,
    const float* __restrict__ active,
    float* __restrict__ hidden_grad,
    float* __restrict__ b1_grad,
    long long seed, long long* fault) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  float total = 0.0f;
  for (int i_1 = 0; i_1 < 8; ++i_1) {
    const float v4 = active_grad[j + 32 * i_1];
    const float v5 = active[j + 32 * i_1];
    const bool v6 = v5 <= 0.0f;
    const float hidden_grad_2 = v6 ? 0.0f : v4;
    total = hidden_grad_2 + total;
  }
  const float v7 = total;
  b1_grad[j] = v7;
}

// kernel w1_grad
// %w1_grad = mm
// kernel 9 of 10, launch 9
// 512 items, a thread each
extern "C" __global__ void __launch_bounds__(32) kernel_9_0(
    const float* __restrict__ x,
    const float* __restrict__ hidden_grad,
    float* __restrict__ w1_grad,
    long long seed, long long* fault) {
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int j = int(unsigned(item) % 32);
  const int i = int(unsigned(item) / 32);
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) {
    const float v1 = x[i + 16 * k];
    const float v2 = hidden_grad[j + 32 * k];
    const float v3 = v1 * v2;
    sum = v3 + sum;
  }
  const float v4 = sum;
  w1_grad[32 * i + j] = v4;
}


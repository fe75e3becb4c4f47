// CUDA on a processor, for tests: what the text of engine/codegen/cuda/emit.h needs to be compiled
// as C++. The threads of a block are fibres, which go from one meeting to the next in turn: the
// first one until it waits, then the second. What is shared without a barrier shows thereby.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__
#define __align__(bytes)
#define __launch_bounds__(...)

struct Coordinate {
  unsigned x = 0;
};
inline Coordinate threadIdx, blockIdx, blockDim, gridDim;
alignas(64) inline unsigned char shared[163 << 10];

namespace on_cpu {

struct Fibre {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  char waits_for = 0;  // 'b': the block, 'w': a warp; 0: nothing more to do
};
inline std::vector<Fibre> fibres;
inline ucontext_t scheduler;
inline const std::function<void()>* body = nullptr;
inline unsigned char slots[1024][8];

inline void wait(char what) {
  const unsigned thread = threadIdx.x;
  fibres[thread].waits_for = what;
  swapcontext(&fibres[thread].context, &scheduler);
  threadIdx.x = thread;
}

inline void enter() {
  const unsigned thread = threadIdx.x;
  (*body)();
  fibres[thread].waits_for = 0;
}

inline void start(unsigned thread) {
  constexpr size_t kStack = 256 << 10;
  Fibre& fibre = fibres[thread];
  if (!fibre.stack) fibre.stack.reset(new char[kStack]);
  getcontext(&fibre.context);
  fibre.context.uc_stack.ss_sp = fibre.stack.get();
  fibre.context.uc_stack.ss_size = kStack;
  fibre.context.uc_link = &scheduler;
  makecontext(&fibre.context, enter, 0);
  fibre.waits_for = 'b';
}

// Threads of a warp meet, or all of a block do.
inline void check_meeting(unsigned threads, bool all_in_block) {
  for (unsigned t = 0; t < threads; ++t) {
    const char waits = fibres[t].waits_for, first = fibres[t / 32 * 32].waits_for;
    const bool parted = waits != first && (waits == 'b' || first == 'b');
    if (!parted && !(all_in_block && waits == 0)) continue;
    fputs("__syncthreads() isn't reached by all threads of a block\n", stderr);
    abort();
  }
}

// All threads of a block, until none waits; those that wait for the block stay until all do.
inline void run_block(unsigned threads) {
  memset(shared, 0xff, sizeof shared);
  for (unsigned t = 0; t < threads; ++t) start(t);
  for (unsigned open = threads, in_block = threads; open > 0;) {
    const bool all_in_block = in_block == open;
    check_meeting(threads, all_in_block);
    open = in_block = 0;
    for (unsigned t = 0; t < threads; ++t) {
      if (fibres[t].waits_for == (all_in_block ? 'b' : 'w')) {
        threadIdx.x = t;
        swapcontext(&scheduler, &fibres[t].context);
      }
      open += fibres[t].waits_for != 0;
      in_block += fibres[t].waits_for == 'b';
    }
  }
}

template <class P>
P argument(void* given) {
  if constexpr (std::is_pointer_v<P>)
    return static_cast<P>(given);
  else
    return *static_cast<P*>(given);
}

template <class... P, size_t... n>
void call(void (*kernel)(P...), void** given, std::index_sequence<n...>) {
  kernel(argument<P>(given[n])...);
}

// `given`: pointers as they are, numbers by their address.
template <class... P>
void launch(void (*kernel)(P...), long long blocks, int threads, void** given) {
  const std::function<void()> one = [&] { call(kernel, given, std::index_sequence_for<P...>()); };
  body = &one;
  if (fibres.size() < size_t(threads)) fibres.resize(size_t(threads));
  blockDim.x = unsigned(threads);
  gridDim.x = unsigned(blocks);
  for (long long b = 0; b < blocks; ++b) {
    blockIdx.x = unsigned(b);
    run_block(unsigned(threads));
  }
}

template <class T>
T taken_from(unsigned source, T value) {
  memcpy(slots[threadIdx.x], &value, sizeof value);
  wait('w');
  memcpy(&value, slots[source], sizeof value);
  wait('w');
  return value;
}

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace on_cpu

inline void __syncthreads() { on_cpu::wait('b'); }
inline void __syncwarp(unsigned) { on_cpu::wait('w'); }
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by, unsigned width) {
  const unsigned to = threadIdx.x % width + by;
  return on_cpu::taken_from(to < width ? threadIdx.x + by : threadIdx.x, value);
}
template <class T>
T __shfl_sync(unsigned, T value, unsigned lane, unsigned width) {
  return on_cpu::taken_from(threadIdx.x / width * width + lane, value);
}
inline unsigned __ballot_sync(unsigned, bool holds) {
  const unsigned warp = threadIdx.x / 32 * 32;
  unsigned all = 0;
  on_cpu::slots[threadIdx.x][0] = holds;
  on_cpu::wait('w');
  for (unsigned lane = 0; lane < 32; ++lane) all |= unsigned(on_cpu::slots[warp + lane][0]) << lane;
  on_cpu::wait('w');
  return all;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
template <class T>
T __shfl_xor_sync(unsigned, T value, unsigned with) {
  return on_cpu::taken_from(threadIdx.x ^ with, value);
}

template <class T, class U>
T atomicAdd(T* at, U value) {
  return std::exchange(*at, T(*at + T(value)));
}
template <class T>
T atomicCAS(T* at, T expected, T value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}

inline int __float_as_int(float x) { return on_cpu::bits_as<int>(x); }
inline float __int_as_float(int x) { return on_cpu::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return on_cpu::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return on_cpu::bits_as<double>(x); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __double2float_rz(double x) {
  const float near = float(x);
  return fabs(double(near)) > fabs(x) ? nextafterf(near, 0) : near;
}

inline float of_half(unsigned short bits) {
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  float size =
      exponent == 0 ? ldexpf(float(digits), -24) : ldexpf(float(digits + 1024), exponent - 25);
  if (exponent == 31) size = digits != 0 ? NAN : INFINITY;
  return (bits & 0x8000) != 0 ? -size : size;
}
inline unsigned short half(float x) {
  const unsigned short sign = signbit(x) ? 0x8000 : 0;
  if (x == 0) return sign;
  if (x != x) return sign | 0x7e00;
  if (fabsf(x) >= 65520) return sign | 0x7c00;
  int exponent = 0;
  frexpf(x, &exponent);
  if (exponent < -13) exponent = -13;  // subnormal numbers share their steps
  const int steps = int(nearbyintf(ldexpf(fabsf(x), 11 - exponent)));
  return (unsigned short)(sign | (steps + ((exponent + 13) << 10)));
}

#include "tests/codegen/cuda_tensor_cores.h"

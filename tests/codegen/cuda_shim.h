// CUDA on a processor, for tests: what the text of engine/codegen/cuda/emit.h needs to be compiled
// as C++. The threads of a cluster of blocks are fibres, which go from one meeting to the next in
// turn: the first one until it waits, then the second. What is shared without a barrier shows
// thereby.
#pragma once

#include <math.h>
#include <setjmp.h>
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
#define __cluster_dims__(...)

struct Coordinate {
  unsigned x = 0;
};
inline Coordinate threadIdx, blockIdx, blockDim, gridDim;

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace on_cpu {

constexpr size_t kSharedBytes = 163 << 10;
struct alignas(64) SharedMemory {
  unsigned char bytes[kSharedBytes];
};

// A fibre is entered once by its context, and from then on by jumps: contexts ask the system for
// the mask of signals at every turn, which takes longer than most kernels do between two meetings.
struct Fibre {
  ucontext_t context;
  jmp_buf place;
  bool entered = false;
  std::unique_ptr<char[]> stack;
  char waits_for = 0;  // 'c': the cluster, 'b': the block, 'w': a warp; 0: nothing more to do
};
inline std::vector<Fibre> fibres;  // a block's, and then the next one's
inline std::vector<SharedMemory> memories;
inline unsigned current = 0;  // of fibres
inline jmp_buf scheduler;
inline const std::function<void()>* body = nullptr;
inline unsigned char slots[8 * 1024][8];

inline unsigned first_of_block() { return current - threadIdx.x; }
// A block's, of its cluster; without a number one's own.
inline unsigned char* memory(unsigned block) { return memories[block].bytes; }
inline unsigned char* memory() { return memory(current / blockDim.x); }

inline void wait(char what) {
  const unsigned fibre = current;
  fibres[fibre].waits_for = what;
  if (_setjmp(fibres[fibre].place) == 0) _longjmp(scheduler, 1);
}

inline void enter() {
  const unsigned fibre = current;
  (*body)();
  fibres[fibre].waits_for = 0;
  _longjmp(scheduler, 1);
}

inline void start(unsigned fibre) {
  constexpr size_t kStack = 256 << 10;
  Fibre& one = fibres[fibre];
  if (!one.stack) one.stack.reset(new char[kStack]);
  getcontext(&one.context);
  one.context.uc_stack.ss_sp = one.stack.get();
  one.context.uc_stack.ss_size = kStack;
  one.context.uc_link = nullptr;
  one.entered = false;
  makecontext(&one.context, enter, 0);
  one.waits_for = 'w';
}

// What all threads of a block wait for; 'w' where only those of some warps have met, 0: all ended.
inline char meeting_of(unsigned first, unsigned threads) {
  const char whole = fibres[first].waits_for;
  bool together = whole != 'w';
  for (unsigned t = 0; t < threads; ++t) {
    const char waits = fibres[first + t].waits_for, of_warp = fibres[first + t / 32 * 32].waits_for;
    together &= waits == whole;
    if (waits == of_warp || (waits != 'b' && waits != 'c' && of_warp != 'b' && of_warp != 'c'))
      continue;
    fputs("a barrier isn't reached by all threads of a block\n", stderr);
    abort();
  }
  return together ? whole : 'w';
}

inline void resume(unsigned fibre, unsigned first_block) {
  current = fibre;
  threadIdx.x = fibre % blockDim.x;
  blockIdx.x = first_block + fibre / blockDim.x;
  Fibre& one = fibres[fibre];
  if (_setjmp(scheduler) != 0) return;
  if (one.entered) _longjmp(one.place, 1);
  one.entered = true;
  setcontext(&one.context);
}

// Those of a block's threads that wait for this.
inline bool go_on(unsigned block, char what, unsigned first_block) {
  bool any = false;
  for (unsigned f = block * blockDim.x; f < (block + 1) * blockDim.x; ++f)
    if (fibres[f].waits_for == what) {
      resume(f, first_block);
      any = true;
    }
  return any;
}

// All threads of a cluster, until none waits; those that wait for the block or the cluster stay
// until all do.
inline void run_cluster(unsigned first_block, unsigned blocks) {
  for (SharedMemory& one : memories) memset(one.bytes, 0xff, kSharedBytes);
  for (unsigned f = 0; f < blocks * blockDim.x; ++f) start(f);
  for (;;) {
    unsigned in_cluster = 0, ended = 0;
    bool any = false;
    for (unsigned b = 0; b < blocks; ++b) {
      const char meeting = meeting_of(b * blockDim.x, blockDim.x);
      in_cluster += meeting == 'c';
      ended += meeting == 0;
      if (meeting == 'w' || meeting == 'b') any |= go_on(b, meeting, first_block);
    }
    if (ended == blocks) return;
    if (in_cluster == blocks)
      for (unsigned b = 0; b < blocks; ++b) any |= go_on(b, 'c', first_block);
    if (any) continue;
    fputs("a barrier isn't reached by all threads\n", stderr);
    abort();
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
void launch(void (*kernel)(P...), long long blocks, int threads, int cluster, void** given) {
  const std::function<void()> one = [&] { call(kernel, given, std::index_sequence_for<P...>()); };
  body = &one;
  const size_t together = size_t(threads) * size_t(cluster);
  if (fibres.size() < together) fibres.resize(together);
  if (memories.size() < size_t(cluster)) memories.resize(size_t(cluster));
  blockDim.x = unsigned(threads);
  gridDim.x = unsigned(blocks);
  for (long long b = 0; b < blocks; b += cluster) run_cluster(unsigned(b), unsigned(cluster));
}

template <class T>
T taken_from(unsigned source, T value) {
  memcpy(slots[current], &value, sizeof value);
  wait('w');
  memcpy(&value, slots[first_of_block() + source], sizeof value);
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
inline void cluster_sync() { on_cpu::wait('c'); }
inline void cooperative_sync(unsigned*, unsigned) {
  on_cpu::wait('c');
}  // a launch has it as its cluster
template <class T>
const T* shared_of_block(int block, const T* here) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(here);
  return reinterpret_cast<const T*>(on_cpu::memory(unsigned(block)) + (bytes - on_cpu::memory()));
}
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
  float size = float(digits) * 0x1p-24f;
  if (exponent != 0) {
    const unsigned wide = unsigned(exponent + 127 - 15) << 23 | unsigned(digits) << 13;
    memcpy(&size, &wide, sizeof size);
  }
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

// Tensor cores and copies into shared memory on a processor, for cuda_shim.h: what the text of
// engine/codegen/cuda/device/tensor_cores.cuh calls where CUDA has instructions of PTX. Which lane
// has which part of a matrix is as the PTX ISA says of mma.m16n8k8, mma.m16n8k16 and ldmatrix.
#pragma once

namespace on_cpu {

// What a lane of a warp shows to the others: two in turn, so that a lane may already show the next
// one while others read.
struct Shown {
  unsigned a[4], b[2];
  const void* row;
};
inline Shown shown[2][1024];
inline unsigned char turns[1024];

// The warp's, once all of its lanes have shown theirs.
inline const Shown* show(const Shown& mine) {
  const unsigned thread = threadIdx.x, turn = turns[thread] ^= 1;
  shown[turn][thread] = mine;
  wait('w');
  return &shown[turn][thread / 32 * 32];
}

[[noreturn]] inline void report_error(const char* what) {
  fprintf(stderr, "%s\n", what);
  abort();
}
inline void check_aligned(const void* at) {
  if (reinterpret_cast<unsigned long long>(at) % 16 != 0)
    report_error("16 bytes are taken at no multiple of 16");
}

// Copies that a thread has begun, by group, oldest first; the last group is open.
struct Copy {
  void* to;
  const void* from;
};
inline std::vector<std::vector<Copy>> groups[1024];

template <class Element>
void add_product(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, int steps,
                 Element element) {
  const Shown* const all = show({{a[0], a[1], a[2], a[3]}, {b0, b1}, nullptr});
  const unsigned lane = threadIdx.x % 32, in_register = unsigned(steps) / 8;
  for (unsigned c = 0; c < 4; ++c) {
    const unsigned row = lane / 4 + c / 2 * 8, column = lane % 4 * 2 + c % 2;
    double sum = 0;
    for (unsigned k = 0; k < unsigned(steps); ++k) {
      const unsigned half = k >= unsigned(steps) / 2, part = k % in_register;
      const unsigned of = k % (unsigned(steps) / 2) / in_register;
      const unsigned left = all[row % 8 * 4 + of].a[row / 8 + 2 * half];
      const unsigned right = all[column * 4 + of].b[half];
      sum += double(element(left, part)) * double(element(right, part));
    }
    sums[c] = float(double(sums[c]) + sum);
  }
}

inline float of_tf32(unsigned bits, unsigned) { return bits_as<float>(bits & ~0x1fffu); }
inline float of_bf16(unsigned bits, unsigned part) {
  return bits_as<float>(part != 0 ? bits & 0xffff0000u : bits << 16);
}
inline float of_f16(unsigned bits, unsigned part) {
  return of_half((unsigned short)(part != 0 ? bits >> 16 : bits & 0xffffu));
}

}  // namespace on_cpu

inline void copy_async(void* to, const void* from, bool there) {
  on_cpu::check_aligned(to);
  auto& groups = on_cpu::groups[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  if (there) on_cpu::check_aligned(from);
  memset(to, 0xff, 16);  // of no use until it has arrived
  groups.back().push_back({to, there ? from : nullptr});
}
inline void end_group() {
  auto& groups = on_cpu::groups[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  groups.emplace_back();
}
template <int left>
void wait_for_groups() {
  auto& groups = on_cpu::groups[threadIdx.x];
  while (groups.size() > left + 1) {
    for (const on_cpu::Copy& copy : groups.front())
      copy.from != nullptr ? memcpy(copy.to, copy.from, 16) : memset(copy.to, 0, 16);
    groups.erase(groups.begin());
  }
}

inline void load_matrices(unsigned (&to)[4], const void* row) {
  on_cpu::check_aligned(row);
  const on_cpu::Shown* const all = on_cpu::show({{}, {}, row});
  const unsigned lane = threadIdx.x % 32;
  for (unsigned m = 0; m < 4; ++m)
    memcpy(&to[m], static_cast<const char*>(all[8 * m + lane / 4].row) + lane % 4 * 4, 4);
}
inline void load_matrices_transposed(unsigned (&to)[4], const void* row) {
  on_cpu::check_aligned(row);
  const on_cpu::Shown* const all = on_cpu::show({{}, {}, row});
  const unsigned lane = threadIdx.x % 32;
  for (unsigned m = 0; m < 4; ++m) {
    unsigned short halves[2];
    for (unsigned i = 0; i < 2; ++i)
      memcpy(&halves[i], static_cast<const char*>(all[8 * m + lane % 4 * 2 + i].row) + lane / 4 * 2,
             2);
    to[m] = halves[0] | unsigned(halves[1]) << 16;
  }
}

inline void add_product_tf32(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  on_cpu::add_product(sums, a, b0, b1, 8, on_cpu::of_tf32);
}
inline void add_product_bf16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  on_cpu::add_product(sums, a, b0, b1, 16, on_cpu::of_bf16);
}
inline void add_product_f16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  on_cpu::add_product(sums, a, b0, b1, 16, on_cpu::of_f16);
}

// To nearest, halves away from 0.
inline unsigned rounded_to_tf32(float x) {
  const unsigned bits = on_cpu::bits_as<unsigned>(x);
  return x - x != 0 ? bits : (bits + 0x1000u) & ~0x1fffu;
}
inline unsigned pair_of_f16(float low, float high) {
  return half(low) | unsigned(half(high)) << 16;
}
inline unsigned pair_of_bf16(float low, float high) {
  const auto rounded = [](float x) {
    const unsigned bits = on_cpu::bits_as<unsigned>(x);
    return (x != x ? bits | 0x400000u : bits + (bits >> 16 & 1u) + 0x7fffu) >> 16;
  };
  return rounded(low) | rounded(high) << 16;
}
inline float exp2_approx(float x) {
  const float y = exp2f(x);
  return fabsf(y) < 0x1p-126f ? 0.0f : y;
}

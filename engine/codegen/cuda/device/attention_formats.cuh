// Operands of attention's products, by dtype.
#pragma once

#include "engine/codegen/cuda/device/formats.cuh"
#include "engine/codegen/cuda/device/tensor_cores.cuh"

//: helper attention_formats uses tensor_cores
__device__ inline float minus_infinity() { return __int_as_float(int(0xff800000u)); }

// A format's products have k = `step`, which is 32 bytes of a row, and 16 bytes are a chunk. `left`
// makes a left operand of the result of load_matrices(). left_of() makes it of sums: their columns
// 2t and 2t + 1 take the places of t and t + 4 with k = 8, so load_transposed() takes its rows in
// that order. It loads rows of k and 16 columns of a right operand that lies row by row.
struct FloatRows {
  using Element = float;
  static constexpr int step = 8, chunk = 4;
  static __device__ inline void load_transposed(unsigned (&to)[4], const float* rows, int stride) {
    const int lane = threadIdx.x % 32;
    const float* const at = rows + lane % 4 * 2 * stride + lane / 4;
    to[0] = unsigned(__float_as_int(at[0]));
    to[1] = unsigned(__float_as_int(at[stride]));
    to[2] = unsigned(__float_as_int(at[8]));
    to[3] = unsigned(__float_as_int(at[stride + 8]));
  }
  static __device__ inline void store(float* to, float first, float second) {
    to[0] = first;
    to[1] = second;
  }
  static __device__ inline float value(float x) { return x; }
};

// f32 rounded to tf32 (10 bits of mantissa), once it is in shared memory.
struct Tf32 : FloatRows {
  static constexpr bool rounds_in_shared = true;
  struct Left {
    unsigned of[4];
  };
  static __device__ inline Left left(const unsigned (&loaded)[4]) {
    return {{loaded[0], loaded[1], loaded[2], loaded[3]}};
  }
  template <int n>
  static __device__ inline Left left_of(const float (&sums)[n][4], int step) {
    const float(&s)[4] = sums[step];
    return {{rounded_to_tf32(s[0]), rounded_to_tf32(s[2]), rounded_to_tf32(s[1]),
             rounded_to_tf32(s[3])}};
  }
  static __device__ inline void add_product(float (&sums)[4], const Left& a, unsigned b0,
                                            unsigned b1) {
    add_product_tf32(sums, a.of, b0, b1);
  }
  static __device__ inline void round_tile(float* chunk) {
    for (int i = 0; i < 4; ++i) chunk[i] = __int_as_float(int(rounded_to_tf32(chunk[i])));
  }
};

// f32 as the sum of two tf32 numbers, with 21 bits of mantissa; the product of the two lower parts
// is left out (3xTF32).
struct F32 : FloatRows {
  static constexpr bool rounds_in_shared = false;
  struct Left {
    unsigned high[4], low[4];
  };
  static __device__ inline void part(float x, unsigned& high, unsigned& low) {
    high = rounded_to_tf32(x);
    low = rounded_to_tf32(x - __int_as_float(int(high)));
  }
  static __device__ inline Left left(float a, float b, float c, float d) {
    Left left;
    part(a, left.high[0], left.low[0]);
    part(b, left.high[1], left.low[1]);
    part(c, left.high[2], left.low[2]);
    part(d, left.high[3], left.low[3]);
    return left;
  }
  static __device__ inline Left left(const unsigned (&loaded)[4]) {
    return left(__int_as_float(int(loaded[0])), __int_as_float(int(loaded[1])),
                __int_as_float(int(loaded[2])), __int_as_float(int(loaded[3])));
  }
  template <int n>
  static __device__ inline Left left_of(const float (&sums)[n][4], int step) {
    const float(&s)[4] = sums[step];
    return left(s[0], s[2], s[1], s[3]);
  }
  static __device__ inline void add_product(float (&sums)[4], const Left& a, unsigned b0,
                                            unsigned b1) {
    unsigned high0, high1, low0, low1;
    part(__int_as_float(int(b0)), high0, low0);
    part(__int_as_float(int(b1)), high1, low1);
    add_product_tf32(sums, a.low, high0, high1);
    add_product_tf32(sums, a.high, low0, low1);
    add_product_tf32(sums, a.high, high0, high1);
  }
};

//: helper HalfRows uses tensor_cores
// 16-bit formats; attention weights are rounded to them for the second product.
struct HalfRows {
  using Element = unsigned short;
  static constexpr int step = 16, chunk = 8;
  static constexpr bool rounds_in_shared = false;
  struct Left {
    unsigned of[4];
  };
  static __device__ inline Left left(const unsigned (&loaded)[4]) {
    return {{loaded[0], loaded[1], loaded[2], loaded[3]}};
  }
  static __device__ inline void load_transposed(unsigned (&to)[4], const Element* rows,
                                                int stride) {
    const int lane = threadIdx.x % 32;
    load_matrices_transposed(to, rows + lane % 16 * stride + lane / 16 * 8);
  }
};

//: helper Bf16 uses of_bfloat16 HalfRows
struct Bf16 : HalfRows {
  template <int n>
  static __device__ inline Left left_of(const float (&sums)[n][4], int step) {
    const float(&s)[4] = sums[2 * step], (&t)[4] = sums[2 * step + 1];
    return {{pair_of_bf16(s[0], s[1]), pair_of_bf16(s[2], s[3]), pair_of_bf16(t[0], t[1]),
             pair_of_bf16(t[2], t[3])}};
  }
  static __device__ inline void add_product(float (&sums)[4], const Left& a, unsigned b0,
                                            unsigned b1) {
    add_product_bf16(sums, a.of, b0, b1);
  }
  static __device__ inline void store(Element* to, float first, float second) {
    *reinterpret_cast<unsigned*>(to) = pair_of_bf16(first, second);
  }
  static __device__ inline float value(Element x) { return of_bfloat16(x); }
};

//: helper F16 uses of_half HalfRows
struct F16 : HalfRows {
  template <int n>
  static __device__ inline Left left_of(const float (&sums)[n][4], int step) {
    const float(&s)[4] = sums[2 * step], (&t)[4] = sums[2 * step + 1];
    return {{pair_of_f16(s[0], s[1]), pair_of_f16(s[2], s[3]), pair_of_f16(t[0], t[1]),
             pair_of_f16(t[2], t[3])}};
  }
  static __device__ inline void add_product(float (&sums)[4], const Left& a, unsigned b0,
                                            unsigned b1) {
    add_product_f16(sums, a.of, b0, b1);
  }
  static __device__ inline void store(Element* to, float first, float second) {
    *reinterpret_cast<unsigned*>(to) = pair_of_f16(first, second);
  }
  static __device__ inline float value(Element x) { return of_half(x); }
};

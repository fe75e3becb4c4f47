#include "engine/codegen/cuda/attention_functions.h"

namespace recut::cuda {

// What only a card can do, a function each.
extern const std::string_view kAttentionMachine = R"(// Attention in tiles.
#ifdef __CUDACC__  // others who run this text bring their own
// 16 bytes on their way into shared memory; zeros where they aren't there.
__device__ inline void copy_async(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               : : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// Copies since the last call are a group; all groups but the last few have to have arrived.
__device__ inline void end_group() { asm volatile("cp.async.commit_group;" : : : "memory"); }
template <int groups>
__device__ inline void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory");
}

// Four matrices of 8 rows of 16 bytes; lane i has the address of row i % 8 of matrix i / 8. A lane
// gets of each the word lane % 4 of row lane / 4, or two halves of that column of the transpose.
__device__ inline void load_matrices(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(unsigned(__cvta_generic_to_shared(row))) : "memory");
}
__device__ inline void load_matrices_turned(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(unsigned(__cvta_generic_to_shared(row))) : "memory");
}

// sums[16, 8] += a[16, k] b[k, 8] by a warp (PTX ISA, mma.m16n8k8 and mma.m16n8k16). With g = lane
// / 4 and t = lane % 4 a lane has of sums row g and, further on, g + 8, columns 2t and 2t + 1.
#define RECUT_PRODUCT(name, form)                                                                 \
  __device__ inline void name(float (&sums)[4], const unsigned (&a)[4], unsigned b0,              \
                              unsigned b1) {                                                      \
    asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "       \
                 "{%0, %1, %2, %3};"                                                              \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                 \
  }
RECUT_PRODUCT(add_product_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
RECUT_PRODUCT(add_product_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
RECUT_PRODUCT(add_product_f16, "m16n8k16.row.col.f32.f16.f16.f32")
#undef RECUT_PRODUCT

__device__ inline unsigned rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
__device__ inline unsigned pair_of_bf16(float low, float high) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
__device__ inline unsigned pair_of_f16(float low, float high) {
  unsigned bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
// 2^x within two of the last places; what is no normal number becomes 0.
__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

)";

// How numbers of each dtype meet in a product.
extern const std::string_view kAttentionFormats =
    R"(__device__ inline float minus_infinity() { return __int_as_float(int(0xff800000u)); }

// A format's products have k = `step`, which is 32 bytes of a row, and 16 bytes are a chunk. `left`
// makes a left factor of what load_matrices() gives; left_of() makes it of sums, whose columns 2t
// and 2t + 1 stand where t and t + 4 are wanted with k = 8: load_turned() takes its rows as that
// says. It loads rows of k and 16 columns of a right factor that lies row by row.
struct FloatRows {
  using Element = float;
  static constexpr int step = 8, chunk = 4;
  static __device__ inline void load_turned(unsigned (&to)[4], const float* rows, int stride) {
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

// f32 rounded to 10 bits behind the point, once it is in shared memory.
struct Tf32 : FloatRows {
  static constexpr bool settles = true;
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
  static __device__ inline void settle(float* chunk) {
    for (int i = 0; i < 4; ++i)
      chunk[i] = __int_as_float(int(rounded_to_tf32(chunk[i])));
  }
};

// f32 as the sum of two such numbers, which has 21 bits behind the point; the product of the two
// lower ones is left out.
struct F32 : FloatRows {
  static constexpr bool settles = false;
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

)";

extern const std::string_view kAttentionFormats16 =
    R"(// Formats of 16 bits; weights are rounded to them for their products.
struct HalfRows {
  using Element = unsigned short;
  static constexpr int step = 16, chunk = 8;
  static constexpr bool settles = false;
  struct Left {
    unsigned of[4];
  };
  static __device__ inline Left left(const unsigned (&loaded)[4]) {
    return {{loaded[0], loaded[1], loaded[2], loaded[3]}};
  }
  static __device__ inline void load_turned(unsigned (&to)[4], const Element* rows, int stride) {
    const int lane = threadIdx.x % 32;
    load_matrices_turned(to, rows + lane % 16 * stride + lane / 16 * 8);
  }
};

)";

extern const std::string_view kAttentionFormat16 = R"(struct {Name} : HalfRows {
  template <int n>
  static __device__ inline Left left_of(const float (&sums)[n][4], int step) {
    const float(&s)[4] = sums[2 * step], (&t)[4] = sums[2 * step + 1];
    return {{pair_of_{name}(s[0], s[1]), pair_of_{name}(s[2], s[3]), pair_of_{name}(t[0], t[1]),
             pair_of_{name}(t[2], t[3])}};
  }
  static __device__ inline void add_product(float (&sums)[4], const Left& a, unsigned b0,
                                            unsigned b1) {
    add_product_{name}(sums, a.of, b0, b1);
  }
  static __device__ inline void store(Element* to, float first, float second) {
    *reinterpret_cast<unsigned*>(to) = pair_of_{name}(first, second);
  }
  static __device__ inline float value(Element x) { return {value}(x); }
};

)";

// Tiles of rows, and their products.
extern const std::string_view kAttentionTiles =
    R"(// Where the rows of a tensor begin: elements from one batch, head and row to the next.
template <long long first, long long batch, long long head, long long row_step>
struct Rows {
  static constexpr long long row = row_step;
  static __device__ inline long long at(int b, int h) { return first + b * batch + h * head; }
};

// Rows in shared memory have zeros up to a multiple of 16, and 16 bytes more: so eight of them
// begin in different banks.
__device__ constexpr int padded(int width) { return (width + 15) / 16 * 16; }
template <class F>
__device__ constexpr int stride_of(int width) {
  return padded(width) + F::chunk;
}

// What 128 threads copy, each some chunks: rows from `first` on, zeros behind the last of `count`.
template <class F, int rows, int width>
__device__ inline void fetch(typename F::Element* to, const typename F::Element* from,
                             long long step, int first, int count) {
  constexpr int chunks = padded(width) / F::chunk;
  for (int i = threadIdx.x; i < rows * chunks; i += 128) {
    const int row = i / chunks, column = i % chunks * F::chunk;
    copy_async(to + row * stride_of<F>(width) + column, from + (first + row) * step + column,
               first + row < count && column < width);
  }
}
// Each thread's own chunks, once they have arrived.
template <class F, int rows, int width>
__device__ inline void settle(typename F::Element* fetched) {
  constexpr int chunks = padded(width) / F::chunk;
  if constexpr (F::settles)
    for (int i = threadIdx.x; i < rows * chunks; i += 128)
      F::settle(fetched + i / chunks * stride_of<F>(width) + i % chunks * F::chunk);
}

// A warp's own 16 rows, `tall` times: left factors, from registers or each time from memory.
template <class F, int tall, int width, bool in_registers>
struct Own {
  static constexpr int steps = padded(width) / F::step, stride = stride_of<F>(width);
  const typename F::Element* rows;
  unsigned kept[in_registers ? tall : 1][in_registers ? steps : 1][4];

  __device__ inline void load(unsigned (&words)[4], int m, int step) const {
    const int lane = threadIdx.x % 32;
    load_matrices(words, rows + (16 * m + lane % 16) * stride + step * F::step +
                             lane / 16 * F::chunk);
  }
  __device__ inline void load(const typename F::Element* from) {
    rows = from;
    if constexpr (in_registers) {
#pragma unroll
      for (int m = 0; m < tall; ++m)
#pragma unroll
        for (int step = 0; step < steps; ++step) load(kept[m][step], m, step);
    }
  }
  __device__ inline typename F::Left at(int m, int step) const {
    if constexpr (in_registers) return F::left(kept[m][step]);
    unsigned words[4];
    load(words, m, step);
    return F::left(words);
  }
};

template <int tall, int n>
__device__ inline void clear(float (&sums)[tall][n][4]) {
#pragma unroll
  for (int m = 0; m < tall; ++m)
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) sums[m][i][c] = 0;
}

// sums = own others^T, of 8 n others.
template <class F, int width, int tall, int n, bool in_registers>
__device__ inline void multiply(float (&sums)[tall][n][4],
                                const Own<F, tall, width, in_registers>& own,
                                const typename F::Element* others) {
  const int lane = threadIdx.x % 32;
  others += (lane % 8 + lane / 16 * 8) * stride_of<F>(width) + lane / 8 % 2 * F::chunk;
  clear(sums);
#pragma unroll
  for (int step = 0; step < padded(width) / F::step; ++step) {
    typename F::Left left[tall];
#pragma unroll
    for (int m = 0; m < tall; ++m) left[m] = own.at(m, step);
#pragma unroll
    for (int pair = 0; pair < n / 2; ++pair) {
      unsigned right[4];
      load_matrices(right, others + 16 * pair * stride_of<F>(width) + step * F::step);
#pragma unroll
      for (int m = 0; m < tall; ++m) {
        F::add_product(sums[m][2 * pair], left[m], right[0], right[1]);
        F::add_product(sums[m][2 * pair + 1], left[m], right[2], right[3]);
      }
    }
  }
}

// sums += weights others, of 8 n others.
template <class F, int width, int tall, int n, int wide>
__device__ inline void add_weighted(float (&sums)[tall][wide][4], const float (&weights)[tall][n][4],
                                    const typename F::Element* others) {
#pragma unroll
  for (int step = 0; step < 8 * n / F::step; ++step) {
    typename F::Left left[tall];
#pragma unroll
    for (int m = 0; m < tall; ++m) left[m] = F::left_of(weights[m], step);
#pragma unroll
    for (int pair = 0; pair < wide / 2; ++pair) {
      unsigned right[4];
      F::load_turned(right, others + step * F::step * stride_of<F>(width) + 16 * pair,
                     stride_of<F>(width));
#pragma unroll
      for (int m = 0; m < tall; ++m) {
        F::add_product(sums[m][2 * pair], left[m], right[0], right[1]);
        F::add_product(sums[m][2 * pair + 1], left[m], right[2], right[3]);
      }
    }
  }
}

// Rows of sums that lie below `count`, times a number for each.
template <class F, int width, int tall, int wide>
__device__ inline void store_rows(typename F::Element* to, long long step,
                                  const float (&sums)[tall][wide][4],
                                  const float (&factors)[tall][2], int first, int count) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < tall; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + 16 * m + 8 * half + lane / 4;
      if (row >= count) continue;
#pragma unroll
      for (int i = 0; i < width / 8; ++i)
        F::store(to + row * step + 8 * i + lane % 4 * 2, sums[m][i][2 * half] * factors[m][half],
                 sums[m][i][2 * half + 1] * factors[m][half]);
    }
}

)";

}  // namespace recut::cuda

// PTX that attention needs: asynchronous copies, ldmatrix, mma, conversions. Tests emulate it on a
// CPU (tests/codegen/cuda_tensor_cores.h).
#pragma once

//: helper tensor_cores
// Attention in tiles.
#ifdef __CUDACC__  // others who run this text bring their own
// Copies 16 bytes asynchronously into shared memory, or zeros.
__device__ inline void copy_async(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// Copies since the last call are a group; waits for all groups but the last few.
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
               : "r"(unsigned(__cvta_generic_to_shared(row)))
               : "memory");
}
__device__ inline void load_matrices_transposed(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(unsigned(__cvta_generic_to_shared(row)))
               : "memory");
}

// sums[16, 8] += a[16, k] b[k, 8] by a warp (PTX ISA, mma.m16n8k8 and mma.m16n8k16). With g = lane
// / 4 and t = lane % 4 a lane has of sums row g and, further on, g + 8, columns 2t and 2t + 1.
#define RECUT_PRODUCT(name, form)                                                                 \
  __device__ inline void name(float(&sums)[4], const unsigned(&a)[4], unsigned b0, unsigned b1) { \
    asm volatile("mma.sync.aligned." form                                                         \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                                \
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
// 2^x within two units of the last position; subnormal results become 0.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

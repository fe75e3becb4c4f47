// Conversions of reals to and from storage formats.
#pragma once

//: helper of_bfloat16
__device__ inline float of_bfloat16(unsigned short bits) {
  return __int_as_float(int(unsigned(bits) << 16));
}

//: helper bfloat16
// To nearest even; NaN stays one.
__device__ inline unsigned short bfloat16(float x) {
#ifdef __CUDACC__
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
  return rounded;
#else
  const unsigned bits = unsigned(__float_as_int(x));
  return (unsigned short)((x != x ? bits | 0x400000u : bits + (bits >> 16 & 1u) + 0x7fffu) >> 16);
#endif
}

//: helper of_half
#ifdef __CUDACC__  // others who run this text bring their own
__device__ inline float of_half(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
#endif

//: helper half
#ifdef __CUDACC__
__device__ inline unsigned short half(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

//: helper round_to_odd
// Round to odd, which avoids double rounding: lost bits set the last one.
__device__ inline float round_to_odd(double x) {
  const float near = __double2float_rz(x);
  return near == x || x != x ? near : __int_as_float(__float_as_int(near) | 1);
}

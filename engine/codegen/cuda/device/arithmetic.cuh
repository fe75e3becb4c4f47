// Arithmetic that the loop form defines where C++ doesn't: wrapping integers, division with either
// rounding, min and max that keep NaN.
#pragma once

//: helper plus
// Integers wrap around.
__device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ inline long long plus(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}

//: helper minus
__device__ inline int minus(int a, int b) { return int(unsigned(a) - unsigned(b)); }
__device__ inline long long minus(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}

//: helper times
__device__ inline int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ inline long long times(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}

//: helper quotient uses minus
// Towards zero; b isn't 0.
template <class T>
__device__ inline T quotient(T a, T b) {
  return b == -1 ? minus(T(0), a) : T(a / b);
}

//: helper integer_remainder
template <class T>
__device__ inline T integer_remainder(T a, T b) {
  return b == -1 ? T(0) : T(a % b);
}

//: helper shifted_left
// 0 where b is negative or too large.
__device__ inline int shifted_left(int a, int b) {
  return unsigned(b) < 32u ? int(unsigned(a) << b) : 0;
}
__device__ inline long long shifted_left(long long a, long long b) {
  return (unsigned long long)b < 64u ? (long long)((unsigned long long)a << b) : 0;
}

//: helper shifted_right
__device__ inline int shifted_right(int a, int b) { return a >> (unsigned(b) < 32u ? b : 31); }
__device__ inline long long shifted_right(long long a, long long b) {
  return a >> ((unsigned long long)b < 64u ? b : 63);
}

//: helper floor_quotient
// Towards minus infinity; b is positive.
template <class T>
__device__ inline T floor_quotient(T a, T b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

//: helper floor_remainder
template <class T>
__device__ inline T floor_remainder(T a, T b) {
  return a % b + (a % b < 0 ? b : 0);
}

//: helper larger
// NaN stays NaN, on the left.
template <class T>
__device__ inline T larger(T a, T b) {
  return a != a || a > b ? a : b;
}

//: helper smaller
template <class T>
__device__ inline T smaller(T a, T b) {
  return a != a || a < b ? a : b;
}

//: helper truncated
// Values out of range, and NaN, become the most negative number.
__device__ inline long long truncated(double x) {
  return x > -9223372036854775808.0 && x < 9223372036854775808.0 ? (long long)x
                                                                 : -9223372036854775807LL - 1;
}

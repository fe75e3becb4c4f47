// The part of cublasLt.h that is used, in our own declarations (driver_api.h says why).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "native/cuda/driver_api.h"

namespace recut::cuda::cublas_lt {

using Handle = struct HandleOfCublas*;
using Product = struct ProductOfCublas*;
using Matrix = struct MatrixOfCublas*;
using Preference = struct PreferenceOfCublas*;

enum Status : int { kSuccess = 0 };
// The bf16 and tf32 kinds may round factors of f32 to these types; the bf16 kind also to tf32.
enum Compute : int { kComputeF32 = 68, kComputeBf16 = 75, kComputeTf32 = 77 };
enum Scalar : int { kRealF32 = 0, kRealF16 = 2, kRealBf16 = 14 };
enum MatmulTranspose : std::int32_t { kNoTranspose = 0, kTranspose = 1 };
enum Epilogue : std::uint32_t { kPlain = 1, kRelu = 2, kWithBias = 4, kReluWithBias = 6 };
enum ProductAttribute : int {
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kBiasType = 26,
};
enum MatrixAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMaxWorkspaceBytes = 1,
  kPartialSums = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8,
};

// The type in which a split-k product may keep its partial sums.
enum PartialSums : std::uint32_t { kAsComputed = 2 };

struct Algorithm {
  std::uint64_t data[8];
};
struct Candidate {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status status;
  float waves;
  int reserved[4];
};

struct Functions {
#define RECUT_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "native/cuda/cublas_lt_functions.def"
#undef RECUT_FUNCTION
};

}  // namespace recut::cuda::cublas_lt

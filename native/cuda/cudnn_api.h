// What is used of cudnn.h, version 9, in our own declarations (driver_api.h says why).
#pragma once

#include <cstddef>
#include <type_traits>

#include "native/cuda/driver_api.h"

namespace recut::cuda::cudnn {

using Handle = struct HandleOfCudnn*;
using Tensor = struct TensorOfCudnn*;
using Filter = struct FilterOfCudnn*;
using Windows = struct WindowsOfCudnn*;

enum Status : int { kSuccess = 0 };
enum Type : int { kF32 = 0, kF16 = 2, kBf16 = 9 };
enum Format : int { kChannelsFirst = 0, kChannelsLast = 1 };
enum Mode : int { kCrossCorrelation = 1 };
// The usual one takes tf32 where that is quicker; the tensor cores' one 16 bits where tensors have
// these, and the converting one f16 for f32, too.
enum Math : int { kUsualMath = 0, kTensorMath = 1, kConvertingMath = 2, kFmaMath = 3 };
using Algorithm = int;  // of one of three enumerations

// Of all three directions: their algorithms are counted apart.
struct Candidate {
  Algorithm algorithm;
  Status status;
  float ms;
  std::size_t workspace_bytes;
  int deterministic;
  Math math;
  int reserved[3];
};

struct Functions {
#define RECUT_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "native/cuda/cudnn_functions.def"
#undef RECUT_FUNCTION
};

}  // namespace recut::cuda::cudnn

// The part of cudnn.h, version 9, that is used, in our own declarations (driver_api.h says why).
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
enum Type : int { kF32 = 0, kF16 = 2, kInt32 = 4, kBf16 = 9, kBoolean = 11 };
enum Format : int { kChannelsFirst = 0, kChannelsLast = 1 };
enum Mode : int { kCrossCorrelation = 1 };
// The default math takes tf32 where that is faster. Tensor math takes 16 bits where tensors have
// them; the converting math also takes f16 for f32.
enum Math : int { kDefaultMath = 0, kTensorMath = 1, kConvertingMath = 2, kFmaMath = 3 };
using Algorithm = int;  // of one of three enumerations

// One candidate of any direction; each direction counts its algorithms apart.
struct Candidate {
  Algorithm algorithm;
  Status status;
  float ms;
  std::size_t workspace_bytes;
  int deterministic;
  Math math;
  int reserved[3];
};

// The graph interface: every object is a descriptor with attributes, which are arrays.
using Descriptor = struct DescriptorOfCudnn*;

enum Kind : int {  // of descriptors
  kPointwise = 0,
  kConfiguration = 3,
  kHeuristics = 4,
  kPlan = 5,
  kPointwiseCall = 13,
  kGraph = 15,
  kPack = 16,
  kTensor = 17,
  kProduct = 18,
  kProductCall = 19,
  kReduction = 21,
  kReductionCall = 22,
  kReshapeCall = 31,
  kDevice = 38,
};

enum Attribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseAxis = 9,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDevice = 204,
  kPlanConfiguration = 401,
  kPlanWorkspaceBytes = 402,
  kPlanDevice = 407,
  kPointwiseOperator = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kPointwiseT = 758,
  kGraphCalls = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorShape = 902,
  kTensorStrides = 903,
  kTensorNumber = 906,
  kTensorIsBetween = 907,
  kTensorIsFromHost = 908,
  kPackNumbers = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kProductPrecision = 1500,
  kProductA = 1520,
  kProductB = 1521,
  kProductC = 1522,
  kProductOperator = 1523,
  kReductionHow = 1600,
  kReductionPrecision = 1601,
  kReductionX = 1610,
  kReductionY = 1611,
  kReductionOperator = 1612,
  kReshapeX = 2200,
  kReshapeY = 2201,
  kDeviceHandle = 2701,
};

enum ArrayOf : int {
  kHandles = 0,
  kTypes = 1,
  kBooleans = 2,
  kInt64s = 3,
  kPointers = 6,
  kHeuristicsModes = 8,
  kPointwiseModes = 14,
  kDescriptors = 15,
  kReductions = 18,
};

enum PointwiseMode : int {
  kAdd = 0,
  kMultiply = 1,
  kDivide = 6,
  kSubtract = 9,
  kExp = 13,
  kLog = 15,
  kIdentity = 21,
  kGreaterEqual = 303,
  kIndex = 501,
  kSelect = 601,
};
enum ReductionHow : int { kSum = 0, kLargest = 3 };
enum Heuristics : int { kBestFirst = 3 };

struct Functions {
#define RECUT_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "native/cuda/cudnn_functions.def"
#undef RECUT_FUNCTION
};

}  // namespace recut::cuda::cudnn

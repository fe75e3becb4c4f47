// The used part of CUDA's driver interface (cuda.h), in our own declarations, as machines that
// build Recut may have no CUDA. On a machine with CUDA, tests/native/cuda_headers_test.cpp compares
// both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace recut::cuda::driver {

using Address = unsigned long long;  // in the GPU's memory
using Device = int;
using Context = struct ContextOfDriver*;
using StreamHandle = struct StreamOfDriver*;
using EventHandle = struct EventOfDriver*;
using GraphHandle = struct GraphOfDriver*;
using GraphNode = struct NodeOfDriver*;
using GraphExec = struct ExecOfDriver*;
using ModuleHandle = struct ModuleOfDriver*;
using FunctionHandle = struct FunctionOfDriver*;
using KernelHandle = struct KernelOfDriver*;

enum Status : int { kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100 };
enum DeviceAttribute : int {
  kMultiprocessorCount = 16,
  kL2Bytes = 38,
  kComputeMajor = 75,
  kComputeMinor = 76
};
enum CaptureMode : int { kCaptureRelaxed = 2 };
enum NodeType : int { kKernelNode = 0 };
enum FunctionAttribute : int { kMaxDynamicSharedBytes = 8 };
inline constexpr unsigned kNonBlockingStream = 1, kDefaultEvent = 0;

struct KernelNode {
  FunctionHandle function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
  KernelHandle kernel = nullptr;
  Context context = nullptr;
};

struct Functions {
#define RECUT_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "native/cuda/driver_functions.def"
#undef RECUT_FUNCTION
};

}  // namespace recut::cuda::driver

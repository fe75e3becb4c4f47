// A program's library calls on the GPU: made once, each with the algorithm that is quickest there.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "native/cuda/algorithm_cache.h"
#include "native/cuda/attention_call.h"
#include "native/cuda/cublas_lt.h"
#include "native/cuda/cudnn.h"

namespace recut::cuda {

// True if the libraries, or Recut's attention kernels, take the kernel's calls in these layouts.
// They don't take f32 convolutions with channels last whose factors must stay f32: cuDNN computes
// their gradients only on tensor cores.
library::SupportsForm library_takes(Precision precision);

// The same, but the GPU's libraries are asked as well: calls for which they have no algorithm are
// left to loops. A library that can't be opened refuses nothing here; running the call reports it.
library::SupportsKernel library_takes(const SharedGpu& gpu, const CallOptions& options);

// Memory that a launch's calls may write to beside their buffers.
struct Workspace {
  driver::Address address = 0;
  std::int64_t bytes = 0;
};

// The buffers and workspaces with which a kernel's calls are launched.
struct KernelArguments {
  // Addresses of the launch with the largest workspace: algorithms are measured there.
  std::vector<driver::Address> buffers;
  Workspace workspace;
  std::vector<std::int64_t> workspaces;  // bytes, one per launch
};

class LibraryCalls {
 public:
  // Opens the libraries that the kernels need, and measures their algorithms with `arguments`,
  // one per kernel; this overwrites those buffers. Algorithms that `kept` has from earlier runs
  // are not measured again; `kept` may be null. `own`: functions of kernels that are attention.
  // Fails where a library is missing, or has no algorithm that fits a launch's workspace or the
  // scratch that `options` allow.
  static Result<LibraryCalls> prepare(const SharedGpu& gpu, const Stream& stream,
                                      std::span<const library::Kernel> kernels,
                                      std::span<const KernelArguments> arguments,
                                      std::span<const std::vector<Function>> own,
                                      const CallOptions& options, AlgorithmCache* kept = nullptr);

  // Bytes of GPU memory beside the arena: the largest workspace that doesn't fit a launch's own.
  std::int64_t scratch_bytes() const { return scratch_.bytes(); }
  // Bytes that the kernel's calls take with at most `workspace` bytes of workspace, inside it or
  // beside it; the maximum over its calls.
  std::int64_t workspace_bytes(std::uint32_t kernel, std::int64_t workspace) const;
  // The part of it inside the workspace.
  std::int64_t bytes_within(std::uint32_t kernel, std::int64_t workspace) const;

  Result<Done> run(std::uint32_t kernel, std::span<const driver::Address> buffers,
                   const Workspace& workspace) const;

 private:
  struct TunedCall {
    std::unique_ptr<DeviceCall> call;
    std::vector<MeasuredAlgorithm> algorithms;  // avoided ones last, else the quickest first

    // The first algorithm within `max_bytes`, or one that fits the workspace where that is as
    // quick but for noise. Null where none is within the bound.
    const MeasuredAlgorithm* best(std::int64_t workspace, std::int64_t max_bytes) const;
  };
  struct Libraries {
    std::shared_ptr<const CublasLt> products;
    std::shared_ptr<const Cudnn> convolutions;

    Result<Done> load_products(const Gpu& gpu);
    Result<Done> load_convolutions(const Stream& stream);
    // Loads the library that the call needs.
    Result<Done> load(const library::Call& call, const Gpu& gpu, const Stream& stream);
    std::string versions() const;  // of the libraries that are open
  };
  class Autotuner;
  class SupportQuery;
  friend library::SupportsKernel library_takes(const SharedGpu& gpu, const CallOptions& options);

  LibraryCalls() = default;
  static Result<std::unique_ptr<DeviceCall>> make(const library::Call& call, const Gpu& gpu,
                                                  const Stream& stream, Libraries& libraries,
                                                  Precision precision,
                                                  const WorkspaceBounds& bounds);
  Result<Done> make_calls(const SharedGpu& gpu, const Stream& stream, const library::Kernel& kernel,
                          const std::vector<Function>& own, const KernelArguments& arguments,
                          Libraries& libraries, Precision precision);
  static std::unique_ptr<DeviceCall> attention(const SharedGpu& gpu, const Stream& stream,
                                               const library::Kernel& kernel,
                                               const std::vector<Function>& own,
                                               Libraries& libraries, std::int64_t max_workspace);
  // Bytes that a launch with such a workspace may take.
  std::int64_t max_bytes_of(std::int64_t workspace) const { return std::max(workspace, beside_); }
  // Measures the calls that have no algorithms yet.
  Result<Done> measure(const SharedGpu& gpu, const Stream& stream,
                       std::span<const library::Kernel> kernels,
                       std::span<const KernelArguments> arguments, const CallOptions& options);
  // Takes the known algorithms if they still belong to the kernel's calls.
  bool take(std::uint32_t kernel, const AlgorithmCache::KernelAlgorithms& known);
  // A text of all inputs of the kernel's algorithms but the GPU.
  std::string cache_key_of(library::Kernel kernel, const KernelArguments& arguments,
                           const Libraries& libraries, const CallOptions& options) const;
  // Reserves scratch to measure all unknown algorithms.
  Result<Done> reserve_for_measuring(const SharedGpu& gpu,
                                     std::span<const KernelArguments> arguments);
  // Reserves the scratch of launches whose workspaces are too small.
  Result<Done> reserve_for_launches(const SharedGpu& gpu,
                                    std::span<const KernelArguments> arguments,
                                    std::span<const library::Kernel> kernels);
  Result<Done> reserve(const SharedGpu& gpu, std::int64_t bytes);
  driver::Address workspace_address(std::int64_t bytes, const Workspace& workspace) const {
    return bytes <= workspace.bytes ? workspace.address : scratch_.address();
  }

  std::vector<std::vector<TunedCall>> kernels_;
  std::int64_t beside_ = 0;  // that a call may take beside its workspace
  DeviceMemory scratch_;
};

}  // namespace recut::cuda

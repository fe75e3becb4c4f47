// A program's library calls on the card: made once, each in the way that is quickest there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "native/cuda/attention_call.h"
#include "native/cuda/cublas_lt.h"
#include "native/cuda/cudnn.h"

namespace recut::cuda {

// Whether the libraries take the kernel's calls in the layouts that these have, or Recut's own
// kernels of attention do.
bool library_takes(const library::Kernel& kernel);

// Memory that a launch's calls may write to beside their buffers.
struct Workspace {
  driver::Address address = 0;
  std::int64_t bytes = 0;
};

// Where a kernel's calls are launched: the buffers, and the workspace that its plan has for it.
struct LaunchPlace {
  std::vector<driver::Address> buffers;
  Workspace workspace;
};

class LibraryCalls {
 public:
  // Opens the libraries that the kernels need. `first`: of each kernel's first launch, on which the
  // ways are measured (what is written there is of no use afterwards), with no more workspace than
  // any of its launches has. A call has the ways that fit it, or what `options` allow beside it.
  // `own`: functions of kernels that are attention. Fails where a library is missing or has no way
  // to do a call.
  static Result<LibraryCalls> prepare(const SharedCard& card, const Stream& stream,
                                      std::span<const library::Kernel> kernels,
                                      std::span<const LaunchPlace> first,
                                      std::span<const std::vector<Function>> own,
                                      const CallOptions& options);

  // Of the card, beside the buffers, the most of all calls that don't fit their workspaces.
  std::int64_t scratch_bytes() const { return scratch_.bytes(); }
  // Of the ways that were chosen for a kernel's calls, the most.
  std::int64_t workspace_bytes(std::uint32_t kernel) const;

  Result<Done> run(std::uint32_t kernel, std::span<const driver::Address> buffers,
                   const Workspace& workspace) const;

 private:
  struct Chosen {
    std::unique_ptr<DeviceCall> call;
    std::size_t way = 0;
  };
  struct Libraries {
    std::shared_ptr<const CublasLt> products;
    std::shared_ptr<const Cudnn> convolutions;
  };
  class Chooser;

  LibraryCalls() = default;
  static Result<std::unique_ptr<DeviceCall>> make(const library::Call& call, const Card& card,
                                                  const Stream& stream, Libraries& libraries,
                                                  const CallOptions& options);
  // Reserves what all ways need beside their kernels' workspaces, or what the chosen ones do.
  Result<Done> reserve(const SharedCard& card, std::span<const LaunchPlace> first, bool all_ways);
  driver::Address place_of(std::int64_t bytes, const Workspace& workspace) const {
    return bytes <= workspace.bytes ? workspace.address : scratch_.address();
  }

  std::vector<std::vector<Chosen>> kernels_;
  DeviceMemory scratch_;
};

}  // namespace recut::cuda

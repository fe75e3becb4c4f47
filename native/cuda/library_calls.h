// A program's library calls on the card: made once, each in the way that is quickest there.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "native/cuda/attention_call.h"
#include "native/cuda/cublas_lt.h"
#include "native/cuda/cudnn.h"
#include "native/cuda/kept_ways.h"

namespace recut::cuda {

// Whether the libraries take the kernel's calls in the layouts that these have, or Recut's own
// kernels of attention do. Not convolutions of f32 with channels last whose factors may not be
// rounded: cuDNN has no way back through them but by tensor cores.
library::TakesForm library_takes(Precision precision);

// The same, but for kernels with a call that the card's libraries have no way for when they are
// asked: those are left to loops. Where a library can't be opened, what runs the calls says so.
library::Takes library_takes(const SharedCard& card, const CallOptions& options);

// Memory that a launch's calls may write to beside their buffers.
struct Workspace {
  driver::Address address = 0;
  std::int64_t bytes = 0;
};

// Where a kernel's calls are launched.
struct KernelPlaces {
  // Of the launch with the largest workspace: there ways are measured.
  std::vector<driver::Address> buffers;
  Workspace workspace;
  std::vector<std::int64_t> workspaces;  // bytes, of each launch
};

class LibraryCalls {
 public:
  // Opens the libraries that the kernels need, and measures their ways at `places`, a kernel's each
  // (what is written there is of no use afterwards), but for those that `kept`, where there is one,
  // has of earlier runs. `own`: functions of kernels that are attention. Fails where a library is
  // missing, or has no way to do a call in the workspace of one of its launches or what `options`
  // allow beside it.
  static Result<LibraryCalls> prepare(const SharedCard& card, const Stream& stream,
                                      std::span<const library::Kernel> kernels,
                                      std::span<const KernelPlaces> places,
                                      std::span<const std::vector<Function>> own,
                                      const CallOptions& options, KeptWays* kept = nullptr);

  // Of the card, beside the buffers, the most of all calls that don't fit their workspaces.
  std::int64_t scratch_bytes() const { return scratch_.bytes(); }
  // Of what a launch of the kernel that has so many bytes of workspace takes, there or beside, the
  // most of its calls.
  std::int64_t workspace_bytes(std::uint32_t kernel, std::int64_t workspace) const;
  // What it takes there alone.
  std::int64_t bytes_within(std::uint32_t kernel, std::int64_t workspace) const;

  Result<Done> run(std::uint32_t kernel, std::span<const driver::Address> buffers,
                   const Workspace& workspace) const;

 private:
  struct Chosen {
    std::unique_ptr<DeviceCall> call;
    std::vector<MeasuredWay> ways;  // those avoided last, else the quickest first

    // The first that takes no more than `most`, but one that fits the workspace where that is as
    // quick but for noise. Null where none is within it.
    const MeasuredWay* best(std::int64_t workspace, std::int64_t most) const;
  };
  struct Libraries {
    std::shared_ptr<const CublasLt> products;
    std::shared_ptr<const Cudnn> convolutions;

    Result<Done> load_products(const Card& card);
    Result<Done> load_convolutions(const Stream& stream);
    // What the call needs.
    Result<Done> load(const library::Call& call, const Card& card, const Stream& stream);
    std::string versions() const;  // of those that are open
  };
  class Chooser;
  class Question;
  friend library::Takes library_takes(const SharedCard& card, const CallOptions& options);

  LibraryCalls() = default;
  static Result<std::unique_ptr<DeviceCall>> make(const library::Call& call, const Card& card,
                                                  const Stream& stream, Libraries& libraries,
                                                  Precision precision,
                                                  const WorkspaceBounds& bounds);
  Result<Done> make_calls(const SharedCard& card, const Stream& stream,
                          const library::Kernel& kernel, const std::vector<Function>& own,
                          const KernelPlaces& places, Libraries& libraries, Precision precision);
  static std::unique_ptr<DeviceCall> attention(const SharedCard& card, const Stream& stream,
                                               const library::Kernel& kernel,
                                               const std::vector<Function>& own,
                                               Libraries& libraries, std::int64_t most_workspace);
  // What a launch may take that has so many bytes of workspace.
  std::int64_t most_of(std::int64_t workspace) const { return std::max(workspace, beside_); }
  // Measures what isn't known yet.
  Result<Done> measure(const SharedCard& card, const Stream& stream,
                       std::span<const library::Kernel> kernels,
                       std::span<const KernelPlaces> places, const CallOptions& options);
  // Ways that were measured before, where they are still those of the kernel's calls.
  bool take(std::uint32_t kernel, const KeptWays::Ways& known);
  // All that the kernel's ways depend on but the card.
  std::string words_of(library::Kernel kernel, const KernelPlaces& places,
                       const Libraries& libraries, const CallOptions& options) const;
  // So that all ways can be measured that aren't known.
  Result<Done> reserve_for_measuring(const SharedCard& card, std::span<const KernelPlaces> places);
  // What the launches need that don't fit their workspaces.
  Result<Done> reserve_for_launches(const SharedCard& card, std::span<const KernelPlaces> places,
                                    std::span<const library::Kernel> kernels);
  Result<Done> reserve(const SharedCard& card, std::int64_t bytes);
  driver::Address place_of(std::int64_t bytes, const Workspace& workspace) const {
    return bytes <= workspace.bytes ? workspace.address : scratch_.address();
  }

  std::vector<std::vector<Chosen>> kernels_;
  std::int64_t beside_ = 0;  // bytes that a call may take beside its workspace
  DeviceMemory scratch_;
};

}  // namespace recut::cuda

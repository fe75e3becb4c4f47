// A program's library calls by oneDNN: primitives that are made once and run often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/library/library_call.h"
#include "engine/support/result.h"

namespace recut::cpu {

// True if oneDNN has code for all calls of the kernel. It answers itself, from descriptions of
// them: a dilated transposed convolution has none, say.
bool onednn_takes(const library::Kernel& kernel);

// The version, "2.6.0". The set of supported calls depends on it.
std::string onednn_version();

class OneDnn {
 public:
  // Makes primitives for as many threads as the caller has (threads.h), or for one where a
  // kernel's work is below `min_parallel_work` (codegen/loop/stages.h). `constant` marks, by kernel
  // and buffer, operands that keep their values in all launches: oneDNN chooses the layout of such
  // factors. Fails where oneDNN has no code for a call; onednn_takes() tells that before.
  static Result<OneDnn> prepare(std::span<const library::Kernel> kernels, double min_parallel_work,
                                const std::vector<std::vector<bool>>& constant);

  OneDnn(OneDnn&& other) noexcept;
  OneDnn& operator=(OneDnn&& other) noexcept;
  ~OneDnn();

  // The largest scratch of a kernel while it runs: tensors in the primitives' layouts, and the
  // primitives' own memory.
  std::int64_t scratch_bytes() const;

  // Bytes of a launch's constant operands in the primitives' layouts.
  std::int64_t packed_bytes(std::uint32_t kernel) const;

  // Reorders these into `packed`, packed_bytes() bytes at a multiple of 64, which their runs read.
  // `buffers` and `scratch` as of run().
  void pack(std::uint32_t kernel, void* const* buffers, std::byte* scratch,
            std::byte* packed) const;

  // Runs a kernel on those threads. `buffers` in the kernel's order; `scratch`: scratch_bytes()
  // bytes at a multiple of 64. One run at a time.
  void run(std::uint32_t kernel, void* const* buffers, std::byte* scratch, std::byte* packed) const;

 private:
  struct Primitives;
  explicit OneDnn(std::unique_ptr<Primitives> primitives);
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace recut::cpu
